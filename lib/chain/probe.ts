import {
  concatHex,
  numberToHex,
  size,
  slice,
  type Address,
  type Hex,
  type PublicClient,
} from "viem";

/*
 * Contract code that is never deployed: `eth_call` places it at the address of EntryPoint or of a
 * wallet (state override), so that calls come from an address that accounts and tokens accept. It
 * makes a list of calls one after another in the same state, and returns the success, the gas used
 * and the return data of each. Failed calls do not make it revert.
 *
 * Input: per call four words (to, value, gas limit, length of data) and the data. Empty input:
 * accepts ether. Output: per call three words (success, gas used, length of return data) and the
 * return data.
 */
const OPCODES = {
  ADD: "01",
  SUB: "03",
  GT: "11",
  ISZERO: "15",
  CALLDATALOAD: "35",
  CALLDATASIZE: "36",
  CALLDATACOPY: "37",
  RETURNDATASIZE: "3d",
  RETURNDATACOPY: "3e",
  POP: "50",
  MSTORE: "52",
  JUMP: "56",
  JUMPI: "57",
  GAS: "5a",
  JUMPDEST: "5b",
  DUP1: "80",
  DUP3: "82",
  DUP4: "83",
  DUP5: "84",
  DUP6: "85",
  DUP7: "86",
  DUP8: "87",
  DUP9: "88",
  SWAP1: "90",
  SWAP2: "91",
  CALL: "f1",
  RETURN: "f3",
} as const;
const PUSH1 = "60";

// One line per step, with the stack after it on the right, top last: o = end of output, i =
// position in input. `name:` is a jump destination, `@name` pushes its position.
const SOURCE = [
  "0x00 0x00", // o i
  "loop: DUP1 CALLDATASIZE GT ISZERO @end JUMPI", // o i
  "DUP1 0x60 ADD CALLDATALOAD", // o i len
  "DUP1 DUP3 0x80 ADD DUP5 CALLDATACOPY", // o i len: the data now lies in memory at o
  "GAS 0x00 0x00 DUP4 DUP7", // o i len g0 retSize retOffset argsSize argsOffset
  "DUP7 0x20 ADD CALLDATALOAD", // … value
  "DUP8 CALLDATALOAD", // … to
  "DUP9 0x40 ADD CALLDATALOAD", // … gas
  "CALL GAS", // o i len g0 success g1
  "SWAP2 SWAP1 DUP6 MSTORE", // o i len g1 g0: success stored
  "SUB DUP4 0x20 ADD MSTORE", // o i len: gas used stored
  "ADD 0x80 ADD", // o i'
  "RETURNDATASIZE DUP3 0x40 ADD MSTORE", // o i': length stored
  "RETURNDATASIZE 0x00 DUP4 0x60 ADD RETURNDATACOPY", // o i': return data stored
  "SWAP1 0x60 ADD RETURNDATASIZE ADD SWAP1", // o' i'
  "@loop JUMP",
  "end: POP 0x00 RETURN",
].flatMap((line) => line.split(" "));

const isOpcode = (word: string): word is keyof typeof OPCODES => word in OPCODES;
const isPush = (word: string): boolean => word.startsWith("0x") || word.startsWith("@");

const assemble = (source: readonly string[]): Hex => {
  const positions = new Map<string, number>();
  let position = 0;
  for (const word of source) {
    if (word.endsWith(":")) positions.set(word.slice(0, -1), position);
    position += isPush(word) ? 2 : 1;
  }
  const byte = (word: string): string => {
    if (isOpcode(word)) return OPCODES[word];
    if (word.endsWith(":")) return OPCODES.JUMPDEST;
    const value = word.startsWith("@") ? (positions.get(word.slice(1)) ?? 0) : Number(word);
    return PUSH1 + value.toString(16).padStart(2, "0");
  };
  return `0x${source.map(byte).join("")}`;
};

const PROBE_CODE: Hex = assemble(SOURCE);

/**
 * Gas of the `eth_call`. It is below the cap of EIP-7825 for a transaction, which some nodes also
 * apply to calls.
 */
const GAS_OF_CALL = 16_500_000n;

export interface ProbeCall {
  readonly to: Address;
  readonly data: Hex;
  readonly value?: bigint;
  /** Gas limit of the call; by default all remaining gas. */
  readonly gas?: bigint;
}

export interface ProbeResult {
  readonly success: boolean;
  /** Gas before refunds, including the cost of the call itself. */
  readonly gasUsed: bigint;
  readonly returnData: Hex;
}

const word = (value: bigint | Hex): Hex => numberToHex(BigInt(value), { size: 32 });

/**
 * Encodes calls as the input of a probe. As the data of a call to an address with the code of a
 * probe, it makes that address execute the calls.
 */
export const probeInput = (calls: readonly ProbeCall[]): Hex =>
  concatHex(
    calls.flatMap((call) => [
      word(call.to),
      word(call.value ?? 0n),
      word(call.gas ?? GAS_OF_CALL),
      word(BigInt(size(call.data))),
      call.data,
    ]),
  );

const decode = (output: Hex): ProbeResult[] => {
  const results: ProbeResult[] = [];
  for (let offset = 0; offset < size(output);) {
    const length = Number(slice(output, offset + 64, offset + 96));
    results.push({
      success: BigInt(slice(output, offset, offset + 32)) === 1n,
      gasUsed: BigInt(slice(output, offset + 32, offset + 64)),
      returnData: length === 0 ? "0x" : slice(output, offset + 96, offset + 96 + length),
    });
    offset += 96 + length;
  }
  return results;
};

/**
 * Replaces an account's code for one `eth_call`. The account's storage and balance stay unchanged.
 */
export interface StandIn {
  readonly address: Address;
  readonly code: Hex;
}

/**
 * Replaces the account's code by a probe, so that calls to it can make it execute calls (see
 * `probeInput`).
 */
export const asProbe = (address: Address): StandIn => ({ address, code: PROBE_CODE });

/**
 * Makes the calls from `from`, whose code is replaced by the probe. `others` lists further
 * accounts whose code is replaced for this `eth_call`.
 */
export const probe = async (
  client: Pick<PublicClient, "call">,
  from: Address,
  calls: readonly ProbeCall[],
  others: readonly StandIn[] = [],
): Promise<readonly ProbeResult[]> => {
  const { data } = await client.call({
    to: from,
    data: probeInput(calls),
    gas: GAS_OF_CALL,
    stateOverride: [asProbe(from), ...others],
  });
  const results = decode(data ?? "0x");
  if (results.length !== calls.length)
    throw new Error("The node does not apply state overrides to eth_call.");
  return results;
};
