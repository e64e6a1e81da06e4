# cmake --install gives the program, the libraries with their headers, and find_package(rnicsim).
include(CMakePackageConfigHelpers)
get_property(rnic_libraries GLOBAL PROPERTY RNIC_LIBRARIES)
add_custom_target(installable DEPENDS ${rnic_libraries} rnicsim rnicsim_vectors rnicsim_rtl $<TARGET_NAME_IF_EXISTS:rnic_fw_rv32>)
install(TARGETS ${rnic_libraries} EXPORT rnicsimTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/rnicsim)
install(EXPORT rnicsimTargets NAMESPACE rnic:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/rnicsim)
install(DIRECTORY model firmware DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/rnicsim FILES_MATCHING PATTERN "*.h")
install(DIRECTORY traces DESTINATION ${CMAKE_INSTALL_DATADIR}/rnicsim FILES_MATCHING PATTERN "*.json" PATTERN siw EXCLUDE)
configure_package_config_file(scripts/cmake/rnicsimConfig.cmake.in ${CMAKE_BINARY_DIR}/rnicsimConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/rnicsim)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/rnicsimConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/rnicsimConfig.cmake ${CMAKE_BINARY_DIR}/rnicsimConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/rnicsim)
