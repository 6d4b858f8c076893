import { concatHex, size, slice, type Address, type Hex, type PublicClient } from "viem";

/*
 * Code that is never deployed: `eth_call` places it at an unused address (state override). Its
 * input is a list of addresses of 20 bytes each. Its output has one byte for each: 1 for a
 * contract. Code of 23 bytes is not a contract but a plain account's delegation (EIP-7702).
 */
const CODE: Hex = concatHex([
  "0x6000", //                i
  "0x5b806014023681101560", // loop: i, 20·i, whether it is past the end
  "0x2457", //                jump to the end
  "0x3560601c3b", //          i, size of the address's code
  "0x801515906017141516", //  i, 1 where it is neither 0 nor 23
  "0x8153600101600256", //    stored as a byte; i + 1; loop
  "0x5b5060", //              end
  "0x00f3",
]);

const PLACE: Address = "0x00000000000000000000000000000000c0de0001";
/**
 * Maximum number of addresses in one call. Each address costs 2,600 gas. The total is far below
 * the cap of EIP-7825 for a transaction, which some nodes also apply to calls.
 */
const ADDRESSES_AT_ONCE_MAX = 4000;
const GAS_OF_CALL = 16_500_000n;

const ask = async (client: PublicClient, addresses: readonly Address[]): Promise<boolean[]> => {
  const { data = "0x" } = await client.call({
    to: PLACE,
    data: concatHex([...addresses]),
    gas: GAS_OF_CALL,
    stateOverride: [{ address: PLACE, code: CODE }],
  });
  if (size(data) !== addresses.length)
    throw new Error("The node does not apply state overrides to eth_call.");
  return addresses.map((_, index) => slice(data, index, index + 1) === "0x01");
};

/**
 * Whether each address has contract code at the latest block, in the order of `addresses`. Checks
 * thousands of addresses in one call.
 */
export const contractsAmong = async (
  client: PublicClient,
  addresses: readonly Address[],
): Promise<boolean[]> => {
  const parts: Promise<boolean[]>[] = [];
  for (let from = 0; from < addresses.length; from += ADDRESSES_AT_ONCE_MAX)
    parts.push(ask(client, addresses.slice(from, from + ADDRESSES_AT_ONCE_MAX)));
  return (await Promise.all(parts)).flat();
};
