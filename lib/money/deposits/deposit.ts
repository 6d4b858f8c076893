import { depositStates } from "@/lib/contracts/deposit-records";
import type { EventType } from "@/lib/contracts/events";
import { formatAmount } from "@/lib/core/money";
import type { Status, SubStatus } from "@/lib/core/status";
import type { Token } from "@/lib/core/token";
import type { NewEvent } from "@/lib/news/events/service";
import type { Deposit } from "./rows";

export type ShownState = (typeof depositStates)[number];
const SHOWN: ReadonlySet<string> = new Set(depositStates);

/** Whether callers see deposits of this state one by one. */
export const isShown = (state: Deposit["state"]): state is ShownState => SHOWN.has(state);

type DepositState = Deposit["state"];

/**
 * Whether the deposit was credited or released. A deposit is decided only when its block is final,
 * so no reorganisation is expected to remove it.
 */
export const isDecided = ({ state }: Pick<Deposit, "state">): boolean =>
  state === "credited" || state === "released";

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

/** The state of a deposit's operation; null when deposits of this state have no operation. */
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
  ...{
    walletId: deposit.walletId,
    walletAddress: deposit.walletAddress,
    sender: deposit.sender,
  },
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
