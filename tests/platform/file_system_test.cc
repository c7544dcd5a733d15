#include "harmonica/platform/file_system.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "harmonica/platform/crypto.h"
#include "support/temporary_directory.h"

namespace harmonica::platform {
namespace {

using harmonica::testing::read_text;
using harmonica::testing::TemporaryDirectory;
using harmonica::testing::write_text;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ReadFile, GivesTheContentAndTheStampThatTheFileHas) {
  const TemporaryDirectory directory;
  write_text(directory / "a", std::string("some\0bytes", 10));
  const auto content = read_file(directory / "a", 100);
  ASSERT_TRUE(content.ok()) << content.status().to_text();
  EXPECT_EQ(as_text(content->bytes), std::string_view("some\0bytes", 10));
  EXPECT_EQ(content->stamp, *stamp_file(directory / "a"));
}

TEST(ReadFile, NamesAFileThatIsMissing) {
  const TemporaryDirectory directory;
  const auto content = read_file(directory / "a", 100);
  EXPECT_EQ(content.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(content.status().message(), HasSubstr(directory / "a"));
  EXPECT_EQ(stamp_file(directory / "a").status().code(), StatusCode::kNotFound);
}

TEST(ReadFile, RefusesADirectoryAndAPipeByName) {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "folder");
  ASSERT_EQ(::mkfifo((directory / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(read_file(directory / "folder", 100).status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(read_file(directory / "folder", 100).status().message(), HasSubstr("is a directory"));
  EXPECT_THAT(read_file(directory / "pipe", 100).status().message(), HasSubstr("is a pipe"));
  EXPECT_THAT(stamp_file(directory / "folder").status().message(), HasSubstr("is a directory"));
}

TEST(ReadFile, RefusesMoreBytesThanAllowed) {
  const TemporaryDirectory directory;
  write_text(directory / "a", "12345");
  EXPECT_TRUE(read_file(directory / "a", 5).ok());
  EXPECT_EQ(read_file(directory / "a", 4).status().code(), StatusCode::kLimitExceeded);
}

TEST(HashFile, IsThatOfTheContentWithTheStampThatTheFileHas) {
  const TemporaryDirectory directory;
  const std::string content(300'000, 'x');
  write_text(directory / "a", content);
  const auto hash = hash_file(directory / "a", content.size());
  ASSERT_TRUE(hash.ok());
  EXPECT_EQ(hash->sha256, sha256(as_bytes(content)));
  EXPECT_EQ(hash->stamp, *stamp_file(directory / "a"));
  EXPECT_EQ(hash_file(directory / "a", content.size() - 1).status().code(), StatusCode::kLimitExceeded);
  EXPECT_EQ(hash_file(directory / "b", 1).status().code(), StatusCode::kNotFound);
}

TEST(ReadHead, GivesAtMostTheBytesAskedFor) {
  const TemporaryDirectory directory;
  write_text(directory / "a", "12345");
  EXPECT_EQ(as_text(*read_head(directory / "a", 3)), "123");
  EXPECT_EQ(as_text(*read_head(directory / "a", 9)), "12345");
  EXPECT_EQ(read_head(directory / "b", 9).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(read_head(directory.path(), 9).status().code(), StatusCode::kUnsupported);
}

TEST(ReplaceFile, LeavesTheNewContentAndNothingBesideIt) {
  const TemporaryDirectory directory;
  ASSERT_TRUE(replace_file(directory / "a", as_bytes("one")).ok());
  ASSERT_TRUE(replace_file(directory / "a", as_bytes("two")).ok());
  EXPECT_EQ(read_text(directory / "a"), "two");
  EXPECT_THAT(directory.names(), ElementsAre("a"));
}

TEST(ReplaceFile, LooksOnceMoreBeforeTheNewContentTakesItsPlace) {
  const TemporaryDirectory directory;
  write_text(directory / "a", "one");
  const Status refused = replace_file(directory / "a", as_bytes("two"), [&] {
    EXPECT_EQ(read_text(directory / "a"), "one");
    return Status(StatusCode::kUnavailable, "saved meanwhile");
  });
  EXPECT_EQ(refused.code(), StatusCode::kUnavailable);
  EXPECT_EQ(read_text(directory / "a"), "one");
  EXPECT_THAT(directory.names(), ElementsAre("a"));
}

TEST(ReplaceFile, KeepsThePermissionsOfTheFile) {
  const TemporaryDirectory directory;
  write_text(directory / "a", "one");
  ASSERT_EQ(::chmod((directory / "a").c_str(), 0640), 0);
  ASSERT_TRUE(replace_file(directory / "a", as_bytes("two")).ok());
  struct stat info;
  ASSERT_EQ(::stat((directory / "a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0640U);
}

TEST(ReplaceFile, WritesTheFileThatASymbolicLinkNames) {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "folder");
  write_text(directory / "folder/real", "one");
  std::filesystem::create_symlink("folder/real", directory / "link");
  ASSERT_TRUE(replace_file(directory / "link", as_bytes("two")).ok());
  EXPECT_TRUE(std::filesystem::is_symlink(directory / "link"));
  EXPECT_EQ(read_text(directory / "folder/real"), "two");
}

TEST(ReplaceFile, RemovesWhatAKilledWriterLeft) {
  const TemporaryDirectory directory;
  write_text(directory / "a", "one");
  ASSERT_EQ(::chmod((directory / "a").c_str(), 0600), 0);
  write_text(directory / ".harmonica-new.a", "a much longer half of something");
  ASSERT_TRUE(replace_file(directory / "a", as_bytes("two")).ok());
  EXPECT_EQ(read_text(directory / "a"), "two");
  EXPECT_THAT(directory.names(), ElementsAre("a"));
}

TEST(ReplaceFile, KeepsTwoWritersApart) {
  const TemporaryDirectory directory;
  const int other = ::open((directory / ".harmonica-new.a").c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_EQ(::flock(other, LOCK_EX), 0);
  EXPECT_EQ(replace_file(directory / "a", as_bytes("two")).code(), StatusCode::kUnavailable);
  ::close(other);
  EXPECT_TRUE(replace_file(directory / "a", as_bytes("two")).ok());
}

TEST(ReplaceFile, LeavesTheOldFileWhenTheDiskIsFull) {
  const TemporaryDirectory directory;
  write_text(directory / "a", "one");
  // A limit on the size of files fails a write in the middle, as a full disk does.
  struct rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  struct rlimit small = before;
  small.rlim_cur = 4096;
  auto* const handler = ::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status status = replace_file(directory / "a", Bytes(100'000, 'x'));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, handler);
  EXPECT_EQ(status.code(), StatusCode::kIo) << status.to_text();
  EXPECT_EQ(read_text(directory / "a"), "one");
  EXPECT_THAT(directory.names(), ElementsAre("a"));
}

TEST(ReplaceFile, RefusesADirectory) {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "folder");
  EXPECT_EQ(replace_file(directory / "folder", as_bytes("x")).code(), StatusCode::kUnsupported);
}

TEST(ReplaceFile, WritesNamesAsLongAsAFolderAllows) {
  const TemporaryDirectory directory;
  const std::string path = directory / std::string(255, 'n');
  ASSERT_TRUE(replace_file(path, as_bytes("x")).ok());
  EXPECT_EQ(read_text(path), "x");
}

TEST(CopyFile, CopiesContentAndPermissions) {
  const TemporaryDirectory directory;
  write_text(directory / "a", "one");
  ASSERT_EQ(::chmod((directory / "a").c_str(), 0604), 0);
  ASSERT_TRUE(copy_file(directory / "a", directory / "b").ok());
  EXPECT_EQ(read_text(directory / "b"), "one");
  struct stat info;
  ASSERT_EQ(::stat((directory / "b").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0604U);
  EXPECT_THAT(directory.names(), ElementsAre("a", "b"));
}

TEST(CopyFile, NeverOverwrites) {
  const TemporaryDirectory directory;
  write_text(directory / "a", "one");
  write_text(directory / "b", "two");
  EXPECT_EQ(copy_file(directory / "a", directory / "b").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(read_text(directory / "b"), "two");
}

TEST(CanonicalPath, ResolvesLinksAsFarAsThePathExists) {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "real");
  std::filesystem::create_directory_symlink("real", directory / "link");
  EXPECT_EQ(*canonical_path(directory / "link/../link/new"), *canonical_path(directory / "real") + "/new");
}

TEST(RemoveFile, RemovesAFileAndLeavesTheTargetOfALink) {
  const TemporaryDirectory directory;
  write_text(directory / "a", "kept");
  std::filesystem::create_symlink(directory / "a", directory / "link");
  EXPECT_TRUE(remove_file(directory / "link").ok());
  EXPECT_FALSE(exists(directory / "link"));
  EXPECT_TRUE(exists(directory / "a"));
  EXPECT_TRUE(remove_file(directory / "a").ok());
  EXPECT_FALSE(exists(directory / "a"));
}

TEST(RemoveFile, HasNothingToDoWhereThereIsNone) {
  const TemporaryDirectory directory;
  EXPECT_TRUE(remove_file(directory / "a").ok());
}

TEST(RemoveFile, RefusesADirectoryByName) {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "folder");
  const Status status = remove_file(directory / "folder");
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), HasSubstr("is a directory"));
}

}  // namespace
}  // namespace harmonica::platform
