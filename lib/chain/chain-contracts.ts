import type { Address } from "viem";
import type { ChainConfig } from "@/lib/platform/config/chains";

export interface SafeContracts {
  readonly singleton: Address;
  readonly proxyFactory: Address;
  readonly module4337: Address;
  readonly moduleSetup: Address;
  readonly multiSend: Address;
  readonly multiSendCallOnly: Address;
}

/**
 * Addresses of the Safe contracts. They are equal on every public chain, because CREATE2 deployed
 * them.
 */
export const CANONICAL_SAFE: SafeContracts = {
  singleton: "0x41675C099F32341bf84BFc5382aF534df5C7461a",
  proxyFactory: "0x4e1DCf7AD4e460CfD30791CCC4F9c8a4f820ec67",
  module4337: "0x75cf11467937ce3F2f357CE24ffc3DBF8fD5c226",
  moduleSetup: "0x2dd68b007B46fBe91B9A7c3EDa5A7a1063cB5b47",
  multiSend: "0x38869bf66a61cF6bDB996A6aE40D5853Fd43B526",
  multiSendCallOnly: "0x9641d764fc13c8B624c04430C7356C1C7C8102e2",
};

/**
 * End of the range of precompiles and other addresses for which nobody has a key. Exchange routers
 * also interpret 1 and 2 as "the sender" and "the router itself".
 */
const LAST_RESERVED_ADDRESS = 0xffffn;

/** Whether the address is in the reserved range from zero, for which nobody has a key. */
export const isReserved = (address: Address): boolean =>
  BigInt(address) <= LAST_RESERVED_ADDRESS;

/**
 * The configured contracts of accounts, payouts and privacy pools, checksummed. Money sent directly
 * to one of them is lost, or anybody can take it. Contracts of routing providers are not included
 * (see `RoutingProvider.contracts`).
 */
export const ownContracts = ({
  contracts,
  privacyPools,
}: Pick<ChainConfig, "contracts" | "privacyPools">): ReadonlySet<Address> => {
  const { multicall3, entryPoint, paymaster, permit2, wrappedNative, safe, distributor } =
    contracts;
  const pools = privacyPools?.pools.map(({ pool }) => pool) ?? [];
  const all = [
    multicall3,
    entryPoint,
    paymaster,
    permit2,
    distributor,
    wrappedNative,
    ...Object.values({ ...CANONICAL_SAFE, ...safe }),
    privacyPools?.entrypoint,
    privacyPools?.processor,
    ...pools,
  ];
  return new Set(all.filter((address) => address !== undefined));
};
