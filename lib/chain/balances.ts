import { BaseError, HttpRequestError, type Address, type Hex } from "viem";
import { DomainError, isDomainError } from "@/lib/core/errors";
import type { Token } from "@/lib/core/token";
import { decodeAggregate, encodeAggregate, type ReadCall } from "./aggregate3";
import { chainCall, type ChainRegistry } from "./registry";

const WORD_HEX_LENGTH = 66;
/**
 * Maximum number of calls in one `eth_call`. A thousand calls need a request of 220 kB and about
 * 25 million gas, and nodes allow 50 million gas.
 */
const CALLS_AT_ONCE_MAX = 1_000;
/**
 * The maximum number of calls in one HTTP request, because nodes and their proxies refuse requests
 * larger than a few megabytes. Further requests follow one after another.
 */
const REQUESTS_AT_ONCE_MAX = 4;
/** How many times a rejected set of calls may be halved, down to a sixteenth of its size. */
const HALVINGS_MAX = 4;
const PAYLOAD_TOO_LARGE = 413;

const SELECTORS = {
  balanceOf: "0x70a08231",
  getEthBalance: "0x4d2301cc",
  getCurrentBlockTimestamp: "0x0f28c97d",
} as const;

export interface ChainBalances {
  readonly blockNumber: bigint;
  readonly at: Date;
  /** Amount in base units; null when the token's contract did not answer with a number. */
  get(owner: Address, token: Token): bigint | null;
}

/** The result of each call (null when it failed), and the block of all results. */
interface Reading {
  readonly words: readonly (bigint | null)[];
  readonly blockNumber: bigint;
  readonly timestamp: bigint;
}

const balanceCall = (multicall: Address, owner: Address, token: Token): ReadCall => {
  const argument = owner.slice(2).toLowerCase().padStart(64, "0");
  return token.address === "native"
    ? { target: multicall, callData: `${SELECTORS.getEthBalance}${argument}` }
    : { target: token.address, callData: `${SELECTORS.balanceOf}${argument}` };
};

// An answer shorter than a word cannot be a balance.
const firstWord = (returnData: Hex | null): bigint | null =>
  returnData !== null && returnData.length >= WORD_HEX_LENGTH
    ? BigInt(returnData.slice(0, WORD_HEX_LENGTH))
    : null;

/** The results; empty when the data is not an answer of Multicall3 to this number of calls. */
const answersOf = (data: Hex | undefined, calls: number): readonly (Hex | null)[] => {
  try {
    const answers = decodeAggregate(data ?? "0x");
    return answers.length === calls ? answers : [];
  } catch (error) {
    if (error instanceof RangeError) return [];
    throw error;
  }
};

interface Question {
  readonly registry: ChainRegistry;
  readonly chainId: number;
  readonly at: "latest" | bigint;
}

const readAtOnce = async (
  { registry, chainId, at }: Question,
  calls: readonly ReadCall[],
): Promise<Reading> => {
  const { name, contracts } = registry.get(chainId);
  const target = contracts.multicall3;
  const all = [{ target, callData: SELECTORS.getCurrentBlockTimestamp }, ...calls];
  const data = encodeAggregate(all);
  const client = registry.client(chainId);
  const block = typeof at === "bigint" ? { blockNumber: at } : { blockTag: at };
  // The block number is not read by a contract, because `block.number` on Arbitrum is Ethereum's.
  // The head is requested first in the same HTTP request, so the balances are from that block or a
  // later one.
  const [blockNumber, answer] = await chainCall(chainId, () =>
    Promise.all([
      typeof at === "bigint" ? at : client.getBlockNumber({ cacheTime: 0 }),
      client.call({ to: target, data, ...block }),
    ]),
  );
  const [timestamp, ...words] = answersOf(answer.data, all.length).map(firstWord);
  if (timestamp == null)
    throw new DomainError(
      "chain_unavailable",
      `${name} did not answer as expected. Try again shortly.`,
    );
  return { words, blockNumber, timestamp };
};

const isTooLarge = (error: unknown): boolean =>
  error instanceof BaseError &&
  error.walk(
    (cause) => cause instanceof HttpRequestError && cause.status === PAYLOAD_TOO_LARGE,
  ) !== null;

/**
 * Whether the node answered but could not execute the calls: it ran out of gas, or the request or
 * its answer was too large.
 */
const mayBeTooMany = (error: unknown): boolean =>
  !isDomainError(error) || error.cause === undefined || isTooLarge(error.cause);

const read = async (
  question: Question,
  calls: readonly ReadCall[],
  halvings = 0,
): Promise<Reading[]> => {
  try {
    return [await readAtOnce(question, calls)];
  } catch (error) {
    if (halvings >= HALVINGS_MAX || calls.length < 2 || !mayBeTooMany(error)) throw error;
    const middle = Math.ceil(calls.length / 2);
    // Sequential, because both halves at once would form a JSON-RPC batch of the original size.
    const first = await read(question, calls.slice(0, middle), halvings + 1);
    return [...first, ...(await read(question, calls.slice(middle), halvings + 1))];
  }
};

const readChunks = async (
  question: Question,
  calls: readonly ReadCall[],
): Promise<Reading[]> => {
  const readings: Reading[] = [];
  const step = CALLS_AT_ONCE_MAX * REQUESTS_AT_ONCE_MAX;
  for (let from = 0; from === 0 || from < calls.length; from += step) {
    const group = calls.slice(from, from + step);
    const chunks = Array.from(
      { length: Math.max(1, Math.ceil(group.length / CALLS_AT_ONCE_MAX)) },
      (_, index) => group.slice(index * CALLS_AT_ONCE_MAX, (index + 1) * CALLS_AT_ONCE_MAX),
    );
    readings.push(...(await Promise.all(chunks.map((chunk) => read(question, chunk)))).flat());
  }
  return readings;
};

/**
 * Reads every owner's balance of every token, and the block of these balances. Up to 1,000 balances
 * need one `eth_call` and 4,000 one HTTP request; more balances need further requests. The returned
 * block is the oldest one of all calls. A token whose contract reverts loses only its own balances.
 * @throws DomainError `chain_unavailable`, `unsupported_chain`
 */
export const readBalances = async (
  registry: ChainRegistry,
  chainId: number,
  owners: readonly Address[],
  tokens: readonly Token[],
  at: "latest" | bigint = "latest",
): Promise<ChainBalances> => {
  const { multicall3 } = registry.get(chainId).contracts;
  const calls = owners.flatMap((owner) =>
    tokens.map((token) => balanceCall(multicall3, owner, token)),
  );
  const readings = await readChunks({ registry, chainId, at }, calls);
  const oldest = readings.reduce((first, each) =>
    each.blockNumber < first.blockNumber ? each : first,
  );
  const words = readings.flatMap((reading) => reading.words);
  const ownerIndex = new Map(owners.map((owner, index) => [owner.toLowerCase(), index]));
  const tokenIndex = new Map(
    tokens.map((token, index) => [token.address.toLowerCase(), index]),
  );
  return {
    blockNumber: oldest.blockNumber,
    at: new Date(Number(oldest.timestamp) * 1000),
    get: (owner, token) => {
      const row = ownerIndex.get(owner.toLowerCase());
      const column = tokenIndex.get(token.address.toLowerCase());
      return row === undefined || column === undefined
        ? null
        : (words[row * tokens.length + column] ?? null);
    },
  };
};
