# The package that find_package(Harmonica) finds.
include(CMakePackageConfigHelpers)

set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/Harmonica)
get_property(HARMONICA_PACKAGES GLOBAL PROPERTY HARMONICA_PACKAGES)
list(REMOVE_DUPLICATES HARMONICA_PACKAGES)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/HarmonicaConfig.cmake.in ${PROJECT_BINARY_DIR}/HarmonicaConfig.cmake
                              INSTALL_DESTINATION ${package_directory})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/HarmonicaConfigVersion.cmake COMPATIBILITY SameMinorVersion)

install(EXPORT HarmonicaTargets NAMESPACE Harmonica:: DESTINATION ${package_directory})
install(FILES ${PROJECT_BINARY_DIR}/HarmonicaConfig.cmake ${PROJECT_BINARY_DIR}/HarmonicaConfigVersion.cmake
        DESTINATION ${package_directory})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
