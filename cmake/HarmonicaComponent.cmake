include(GNUInstallDirs)

# harmonica_find_package(NAME ...)
#
# A package that a component needs: find_package(NAME ... REQUIRED), now and again wherever the installed Harmonica is found.
macro(harmonica_find_package name)
  find_package(${name} ${ARGN} REQUIRED)
  set_property(GLOBAL APPEND PROPERTY HARMONICA_PACKAGES ${name})
endmacro()

# harmonica_component(NAME [SOURCES ...] [LINK ...] [LINK_PRIVATE ...])
#
# A library of the SDK: target harmonica_NAME, alias Harmonica::NAME, public headers under include/. Without sources it is its
# headers alone.
function(harmonica_component name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;LINK_PRIVATE" ${ARGN})
  set(target harmonica_${name})
  if(ARG_SOURCES)
    set(scope PUBLIC)
    add_library(${target} ${ARG_SOURCES})
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src)
    target_link_libraries(${target} PRIVATE ${ARG_LINK_PRIVATE})
  else()
    set(scope INTERFACE)
    add_library(${target} INTERFACE)
  endif()
  add_library(Harmonica::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(${target} ${scope} cxx_std_20)
  target_include_directories(${target} ${scope} $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
                                                $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} ${scope} ${ARG_LINK})
  if(HARMONICA_INSTALL)
    install(TARGETS ${target} EXPORT HarmonicaTargets)
    install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  endif()
endfunction()
