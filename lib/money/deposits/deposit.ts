import { depositStates, screeningStates } from "@/lib/contracts/deposit-records";
import type { EvmAddress } from "@/lib/core/evm";
import { z } from "zod";
import type { EventType } from "@/lib/contracts/events";
import { formatAmount } from "@/lib/core/money";
import type { Status, SubStatus } from "@/lib/core/status";
import type { Token } from "@/lib/core/token";
import type { NewEvent } from "@/lib/news/events/service";

// A deposit as the module works with it.

/**
 * `unclear`: it may be a part of an operation in progress. `own`: it was a part of an operation.
 * `dust`: it is too small to be shown by itself (apply.ts). Deposits in these states have no
 * operation and no event.
 */
const storedState = z.enum([...depositStates, "unclear", "own", "dust"]);

export type ShownState = (typeof depositStates)[number];
const SHOWN: ReadonlySet<string> = new Set(depositStates);

/** Whether callers see deposits of this state one by one. */
export const isShown = (state: Deposit["state"]): state is ShownState => SHOWN.has(state);
type DepositState = z.output<typeof storedState>;

/** The screening verdict about the sender; null when no source was asked. */
const storedVerdict = z.enum(screeningStates).nullable();

export interface Deposit {
  readonly projectId: string;
  /** Id of the deposit, which is also the id of its operation. */
  readonly id: string;
  readonly chainId: number;
  /** Null for coins, whose transfers emit no log. */
  readonly txHash: string | null;
  readonly logIndex: number | null;
  readonly blockNumber: bigint;
  readonly walletId: string;
  readonly walletAddress: EvmAddress;
  /** Lower-case token address, or `native`. */
  readonly token: string;
  /** Null when the sender is unknown. */
  readonly sender: EvmAddress | null;
  readonly amountBase: bigint;
  /** Worth in millionths of a dollar when it was credited; null when no price was available. */
  readonly usdMicro: bigint | null;
  readonly state: DepositState;
  /** Whether its amount is part of the quarantine's hold. */
  readonly isHeld: boolean;
  readonly verdict: z.output<typeof storedVerdict>;
  readonly verdictSource: string | null;
  readonly listVersion: string | null;
  readonly screenedAt: Date | null;
  readonly decidedBy: string | null;
  readonly decidedReason: string | null;
  readonly decidedAt: Date | null;
  readonly detectedAt: Date;
  readonly updatedAt: Date;
}

/**
 * Whether the deposit was decided. Its block was final then, so no reorganisation is expected to
 * replace it.
 */
export const isDecided = ({ state }: Pick<Deposit, "state">): boolean =>
  state === "credited" || state === "released";

export interface DepositRow extends Omit<
  Deposit,
  "blockNumber" | "amountBase" | "usdMicro" | "state" | "verdict" | "walletAddress" | "sender"
> {
  readonly blockNumber: string;
  readonly walletAddress: string;
  readonly sender: string | null;
  readonly amountBase: string;
  readonly usdMicro: string | null;
  readonly state: string;
  readonly verdict: string | null;
}

/** The columns of a deposit for `parseDeposit`, in a SELECT whose table is named `d`. */
export const DEPOSIT_COLUMNS = `d.project_id AS "projectId", d.id, d.chain_id AS "chainId", d.tx_hash AS "txHash",
  d.log_index AS "logIndex", d.block_number::text AS "blockNumber", d.wallet_id AS "walletId",
  d.wallet_address AS "walletAddress", d.token, d.sender, d.amount_base::text AS "amountBase",
  d.usd_micro::text AS "usdMicro", d.state, d.is_held AS "isHeld", d.verdict, d.verdict_source AS "verdictSource",
  d.list_version AS "listVersion", d.screened_at AS "screenedAt", d.decided_by AS "decidedBy",
  d.decided_reason AS "decidedReason", d.decided_at AS "decidedAt", d.detected_at AS "detectedAt",
  d.updated_at AS "updatedAt"`;

/** @throws ZodError when a stored column does not have the expected shape */
export const parseDeposit = (row: DepositRow): Deposit => ({
  ...row,
  blockNumber: BigInt(row.blockNumber),
  walletAddress: row.walletAddress as EvmAddress,
  sender: row.sender as EvmAddress | null,
  amountBase: BigInt(row.amountBase),
  usdMicro: row.usdMicro === null ? null : BigInt(row.usdMicro),
  state: storedState.parse(row.state),
  verdict: storedVerdict.parse(row.verdict),
});

// Translates the state of a deposit to the status of its operation and to events of its project.

interface OperationState {
  readonly status: Status;
  readonly subStatus: SubStatus;
  readonly failure: { readonly code: string; readonly message: string } | null;
}

const DROPPED = {
  code: "deposit_dropped",
  message:
    "A reorganisation of the chain removed this deposit before it was final. The money is with its sender.",
};

const STATES: Readonly<Partial<Record<DepositState, OperationState>>> = {
  pending: { status: "processing", subStatus: "confirming", failure: null },
  quarantined: { status: "processing", subStatus: "quarantined", failure: null },
  credited: { status: "completed", subStatus: "full", failure: null },
  released: { status: "completed", subStatus: "full", failure: null },
  dropped: { status: "failed", subStatus: "full", failure: DROPPED },
};

/** Null for a deposit without an operation. */
export const operationStateOf = (state: DepositState): OperationState | null =>
  STATES[state] ?? null;

type Told = Pick<
  Deposit,
  | "projectId"
  | "id"
  | "chainId"
  | "walletId"
  | "walletAddress"
  | "sender"
  | "amountBase"
  | "txHash"
  | "verdict"
> & { readonly token: Token; readonly state: DepositState };

const EVENT_OF: Readonly<Partial<Record<DepositState, EventType>>> = {
  credited: "deposit.credited",
  quarantined: "deposit.quarantined",
  released: "deposit.released",
};

const dataOf = (deposit: Told): NewEvent["data"] => ({
  ...{ depositId: deposit.id, state: deposit.state, chainId: deposit.chainId },
  ...{ walletId: deposit.walletId, walletAddress: deposit.walletAddress, sender: deposit.sender },
  token: { symbol: deposit.token.symbol, address: deposit.token.address },
  amount: formatAmount(deposit.amountBase, deposit.token.decimals),
  ...{ txHash: deposit.txHash, verdict: deposit.verdict },
});

/** The project's events about a new state. @param isNew true when the deposit has no event yet */
export const depositEvents = (deposit: Told, isNew: boolean, at: Date): NewEvent[] => {
  const { projectId, id: objectId } = deposit;
  const base = { projectId, objectId, at };
  const type = EVENT_OF[deposit.state];
  const detected = {
    ...base,
    type: "deposit.detected",
    data: dataOf({ ...deposit, state: "pending" }),
  } as const;
  return [
    ...(isNew ? [detected] : []),
    ...(type === undefined ? [] : [{ ...base, type, data: dataOf(deposit) }]),
  ];
};
