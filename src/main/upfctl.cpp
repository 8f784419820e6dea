#include "upf/app/ctl.hpp"

int main(int argc, char** argv) { return upf::app::run_ctl(argc, argv); }
