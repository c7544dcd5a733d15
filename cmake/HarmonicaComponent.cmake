# harmonica_component(NAME SOURCES ... [LINK ...] [LINK_PRIVATE ...])
#
# A library of the SDK: target harmonica_NAME, alias Harmonica::NAME, public headers under include/.
function(harmonica_component name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;LINK_PRIVATE" ${ARGN})
  add_library(harmonica_${name} ${ARG_SOURCES})
  add_library(Harmonica::${name} ALIAS harmonica_${name})
  set_target_properties(harmonica_${name} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_compile_features(harmonica_${name} PUBLIC cxx_std_20)
  target_include_directories(
    harmonica_${name}
    PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>
    PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src)
  target_link_libraries(harmonica_${name} PUBLIC ${ARG_LINK} PRIVATE ${ARG_LINK_PRIVATE})
endfunction()
