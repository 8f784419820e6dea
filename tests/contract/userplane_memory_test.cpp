#include "contract/data_plane_contract.hpp"
#include "contract/memory_world.hpp"

namespace upf::contract {

INSTANTIATE_TEST_SUITE_P(UserPlaneInMemory, DataPlaneContract,
                         testing::Values(WorldFactory{
                             "Memory", [] { return std::make_unique<MemoryWorld>(); }}),
                         name_of);

}  // namespace upf::contract
