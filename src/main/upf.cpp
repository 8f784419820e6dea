#include "upf/app/run.hpp"

int main(int argc, char** argv) { return upf::app::run(argc, argv); }
