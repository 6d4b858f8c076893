/** Finds the rows of a payout that a chain would refuse, without sending a transaction. */
import {
  encodeFunctionData,
  erc20Abi,
  slice,
  type Address,
  type Hex,
  type PublicClient,
} from "viem";
import type { DistributorRow } from "./distributor";
import { revertReasonOf } from "./erc4337/marked-paymaster";
import { probe, type ProbeCall, type ProbeResult } from "./probe";

/** Number of rows that fit into one `eth_call`, each with the maximum gas of a row. */
const ROWS_PER_CALL = 100;
/**
 * Maximum gas of a row that pays a token. The transfer of a usual token needs less than half of
 * it. A recipient that needs more would burn gas at the sponsor's cost.
 */
export const TOKEN_ROW_GAS_MAX = 150_000n;
/** Gas that the distributor passes on with a transfer of coins. */
const COIN_ROW_GAS_MAX = 30_000n;

export interface PayoutProbe {
  /**
   * The rows that the chain would refuse, with the reason in words. `mayPass` is true when the
   * payment may succeed at another time.
   */
  readonly faults: readonly {
    readonly position: number;
    readonly reason: string;
    readonly mayPass: boolean;
  }[];
  readonly balanceBase: bigint;
}

interface Payout {
  readonly token: Address | "native";
  readonly rows: readonly DistributorRow[];
}

const rowCall = (
  token: Payout["token"],
  { recipient, amountBase }: DistributorRow,
): ProbeCall =>
  token === "native"
    ? { to: recipient, data: "0x", value: amountBase, gas: COIN_ROW_GAS_MAX }
    : {
        to: token,
        data: encodeFunctionData({
          abi: erc20Abi,
          functionName: "transfer",
          args: [recipient, amountBase],
        }),
        gas: TOKEN_ROW_GAS_MAX,
      };

/** Whether the token returned true or, as some tokens do, nothing. The distributor accepts both. */
const isTrue = (answer: Hex): boolean =>
  answer === "0x" || (answer.length >= 66 && BigInt(slice(answer, 0, 32)) === 1n);

/** Whether the row used up its fixed gas limit. Such a row is always refused. */
const needsTooMuch = (
  token: Payout["token"],
  { success, gasUsed, returnData }: ProbeResult,
): boolean =>
  !success &&
  returnData === "0x" &&
  gasUsed >= (token === "native" ? COIN_ROW_GAS_MAX : TOKEN_ROW_GAS_MAX);

const reasonOf = (
  token: Payout["token"],
  { success, gasUsed, returnData }: ProbeResult,
): string | null => {
  if (success)
    return token === "native" || isTrue(returnData)
      ? null
      : "the token answered that it did not pay";
  if (returnData !== "0x") return revertReasonOf(returnData).text;
  const limit = token === "native" ? COIN_ROW_GAS_MAX : TOKEN_ROW_GAS_MAX;
  return gasUsed >= limit
    ? `it uses more than ${String(limit)} gas`
    : revertReasonOf("0x").text;
};

const chunksOf = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );

/**
 * Simulates every row's transfer from the account's address (the call overrides its code), a
 * hundred rows in one `eth_call`. A failing row does not affect the others, so one run finds all of
 * them. The rows of one call share the account's balance.
 */
export const probePayout = async (
  client: PublicClient,
  account: Address,
  { token, rows }: Payout,
): Promise<PayoutProbe> => {
  const code = token === "native" ? undefined : await client.getCode({ address: token });
  if (token !== "native" && (code ?? "0x") === "0x") {
    const faults = rows.map((_, position) => ({
      position,
      reason: "the token has no contract on this chain",
      mayPass: false,
    }));
    return { faults, balanceBase: 0n };
  }
  const balance =
    token === "native"
      ? client.getBalance({ address: account })
      : client.readContract({
          address: token,
          abi: erc20Abi,
          functionName: "balanceOf",
          args: [account],
        });
  const [balanceBase, results] = await Promise.all([
    balance,
    Promise.all(
      chunksOf(rows, ROWS_PER_CALL).map((part) =>
        probe(
          client,
          account,
          part.map((row) => rowCall(token, row)),
        ),
      ),
    ),
  ]);
  const faults = results.flat().flatMap((result, position) => {
    const reason = reasonOf(token, result);
    return reason === null ? [] : [{ position, reason, mayPass: !needsTooMuch(token, result) }];
  });
  return { faults, balanceBase };
};

/**
 * The change of each owner's token balance in one block, in base units.
 * @throws the node's error when it no longer has the state of that block
 */
export const balanceChangesIn = (
  client: PublicClient,
  token: Address,
  owners: readonly Address[],
  blockNumber: bigint,
): Promise<bigint[]> => {
  const balanceAt = (owner: Address, block: bigint): Promise<bigint> =>
    client.readContract({
      address: token,
      abi: erc20Abi,
      functionName: "balanceOf",
      args: [owner],
      blockNumber: block,
    });
  return Promise.all(
    owners.map(async (owner) => {
      const [before, after] = await Promise.all([
        balanceAt(owner, blockNumber - 1n),
        balanceAt(owner, blockNumber),
      ]);
      return after - before;
    }),
  );
};
