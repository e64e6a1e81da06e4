# cmake --install gives the program, the libraries with their headers, and find_package(rnicsim).
include(CMakePackageConfigHelpers)
get_property(rnic_libraries GLOBAL PROPERTY RNIC_LIBRARIES)
add_custom_target(installable DEPENDS ${rnic_libraries} rnicsim rnicsim_vectors rnicsim_rtl rnic_golden rnicsim_run $<TARGET_NAME_IF_EXISTS:rnic_fw_rv32>)
install(TARGETS ${rnic_libraries} EXPORT rnicsimTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/rnicsim)
install(EXPORT rnicsimTargets NAMESPACE rnic:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/rnicsim)
install(DIRECTORY model firmware DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/rnicsim FILES_MATCHING PATTERN "*.h")
install(DIRECTORY traces DESTINATION ${CMAKE_INSTALL_DATADIR}/rnicsim FILES_MATCHING PATTERN "*.json" PATTERN siw EXCLUDE)
# `rnicsim rtl`: its scripts, our modules, and what a library is compiled with. In folders as those of the source tree.
install(FILES scripts/rtl_library.py scripts/rtl_adapter.py scripts/sv_pins.py DESTINATION ${CMAKE_INSTALL_DATADIR}/rnicsim/scripts)
install(DIRECTORY rtl-stubs/include rtl-stubs/rtl rtl-stubs/adapter DESTINATION ${CMAKE_INSTALL_DATADIR}/rnicsim/rtl-stubs FILES_MATCHING PATTERN "*.sv")
install(FILES rtl-stubs/loaded/exported.h rtl-stubs/loaded/print.h rtl-stubs/loaded/rnic_rtl.h rtl-stubs/loaded/rnic_rtl.map
        DESTINATION ${CMAKE_INSTALL_DATADIR}/rnicsim/rtl-stubs/loaded)
install(FILES rtl-stubs/loaded/rnic_rtl.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# librnic_golden, for C and what speaks C: find_package(rnicsim COMPONENTS golden), or rnic_golden.pc.
install(TARGETS rnic_golden EXPORT rnicsimGoldenTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} OPTIONAL)
install(EXPORT rnicsimGoldenTargets NAMESPACE rnic:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/rnicsim)
# librnicsim_run, whole runs, in the same way: COMPONENTS run, or rnic_run.pc. And Python's package of both.
install(TARGETS rnicsim_run EXPORT rnicsimRunTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} OPTIONAL)
install(EXPORT rnicsimRunTargets NAMESPACE rnic:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/rnicsim)
install(FILES model/golden/abi/rnic_run.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
configure_file(scripts/cmake/rnic_run.pc.in ${CMAKE_BINARY_DIR}/rnic_run.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/rnic_run.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(DIRECTORY model/golden/python/rnicsim model/golden/python/examples DESTINATION ${CMAKE_INSTALL_DATADIR}/rnicsim/python
        FILES_MATCHING PATTERN "*.py" PATTERN py.typed)
install(FILES model/golden/abi/rnic_golden.h model/golden/abi/rnic_golden_messages.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
configure_file(scripts/cmake/rnic_golden.pc.in ${CMAKE_BINARY_DIR}/rnic_golden.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/rnic_golden.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
# Assertions to be bound to other people's RTL, and the golden library through DPI-C.
install(DIRECTORY rtl-stubs/checkers rtl-stubs/golden DESTINATION ${CMAKE_INSTALL_DATADIR}/rnicsim/rtl-stubs
        FILES_MATCHING PATTERN "*.sv" PATTERN "*.svh")
install(DIRECTORY rtl-stubs/examples/dpi DESTINATION ${CMAKE_INSTALL_DATADIR}/rnicsim/rtl-stubs/examples FILES_MATCHING PATTERN "*.sv")
configure_package_config_file(scripts/cmake/rnicsimConfig.cmake.in ${CMAKE_BINARY_DIR}/rnicsimConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/rnicsim)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/rnicsimConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/rnicsimConfig.cmake ${CMAKE_BINARY_DIR}/rnicsimConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/rnicsim)
