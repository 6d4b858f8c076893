import { getAddress, pad, type Address, type Hex, type PublicClient } from "viem";
import type { ChainRegistry } from "./registry";
import { DISTRIBUTOR_CODE } from "./solidity/distributor";

/** INVALID, which ends the constructor, and the first instruction of what the constructor returns. */
const RUNTIME_START = "fe6080";
const PUSH32 = "7f";
const EMPTY_WORD = "0".repeat(64);

/**
 * The runtime code of `Distributor.sol` at an address. The code contains that address (`self`), with which it
 * recognises delegated calls.
 */
export const distributorRuntimeCode = (address: Address): Hex => {
  const start = DISTRIBUTOR_CODE.indexOf(RUNTIME_START) + "fe".length;
  const runtime = DISTRIBUTOR_CODE.slice(start);
  const self = pad(address, { size: 32 }).slice(2).toLowerCase();
  return `0x${runtime.replaceAll(`${PUSH32}${EMPTY_WORD}`, `${PUSH32}${self}`)}`;
};

/**
 * Why no account may delegate a call to this address, or null when it may. Delegated code runs as the account itself
 * and could take everything, so only exactly the code of this release is accepted.
 */
export const distributorFault = async (
  client: Pick<PublicClient, "getCode">,
  address: Address,
): Promise<string | null> => {
  const code = (await client.getCode({ address })) ?? "0x";
  if (code === distributorRuntimeCode(address)) return null;
  const found = code === "0x" ? "has no code" : "is not the Distributor of this release";
  return (
    `the contract at ${getAddress(address)} ${found}, so no payout is signed for it. ` +
    "Correct `contracts.distributor` in the chains file, or leave it out: payouts then cost more gas."
  );
};

/**
 * Runs `distributorFault` for every chain that names a distributor. A chain that does not answer is left out, because
 * each payout checks again before it signs.
 */
export const distributorFaults = async (
  registry: Pick<ChainRegistry, "list" | "client">,
): Promise<readonly string[]> => {
  const faults = await Promise.all(
    registry.list().map(async ({ id, name, contracts: { distributor } }) => {
      if (distributor === undefined) return null;
      const fault = await distributorFault(registry.client(id), distributor).catch(() => null);
      return fault === null ? null : `${name}: ${fault}`;
    }),
  );
  return faults.filter((fault) => fault !== null);
};
