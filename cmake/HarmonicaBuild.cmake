# What the whole build shares. A project that adds Harmonica with add_subdirectory() sees none of it.

# Targets of found packages are visible in every folder: who links a component links what it needs, too.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

  find_program(HARMONICA_CCACHE ccache)
  mark_as_advanced(HARMONICA_CCACHE)
  if(HARMONICA_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
    # The folder of the build says nothing about the object, so all build folders share the cache.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_NOHASHDIR=1 ${HARMONICA_CCACHE})
  endif()
endif()
