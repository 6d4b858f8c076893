import type { Address } from "viem";
import type { ChainConfig } from "@/lib/config/chains";

/** The Safe contracts of permissionless, which stand at the same address on every chain. */
const CANONICAL_SAFE = {
  singleton: "0x41675C099F32341bf84BFc5382aF534df5C7461a",
  proxyFactory: "0x4e1DCf7AD4e460CfD30791CCC4F9c8a4f820ec67",
  module4337: "0x75cf11467937ce3F2f357CE24ffc3DBF8fD5c226",
  moduleSetup: "0x2dd68b007B46fBe91B9A7c3EDa5A7a1063cB5b47",
  multiSend: "0x38869bf66a61cF6bDB996A6aE40D5853Fd43B526",
  multiSendCallOnly: "0x9641d764fc13c8B624c04430C7356C1C7C8102e2",
} as const satisfies Record<string, Address>;

/** Precompiles and other addresses that nobody holds; Uniswap's router also reads 1 and 2 as "the sender" and "the router itself". */
const LAST_RESERVED_ADDRESS = 0xffffn;

/** Whether nobody can hold the address: zero and its neighbours. */
export const isReserved = (address: Address): boolean => BigInt(address) <= LAST_RESERVED_ADDRESS;

/** The contracts of the configuration that money is moved through, checksummed; what lies in them is lost, or anybody may take it. */
export const movingContracts = ({ contracts }: Pick<ChainConfig, "contracts">): ReadonlySet<Address> => {
  const { multicall3, entryPoint, paymaster, permit2, wrappedNative, uniswapV3, across, safe, distributor } = contracts;
  const all = [
    multicall3,
    entryPoint,
    paymaster,
    permit2,
    distributor,
    wrappedNative,
    uniswapV3?.factory,
    uniswapV3?.quoterV2,
    uniswapV3?.swapRouter02,
    across?.spokePool,
    across?.multicallHandler,
    ...Object.values({ ...CANONICAL_SAFE, ...safe }),
  ];
  return new Set(all.filter((address) => address !== undefined));
};
