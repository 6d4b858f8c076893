import { z } from "zod";
import type { Signed } from "@/components/features/signing/signing-model";
import type { Signing } from "@/components/features/signing/use-signing";
import { tabStore } from "@/components/ui/tab-store";
import { prepareSwap } from "@/lib/contracts/swap";
import { codeOf, detailsOf, isRefusedProof } from "./api-error";
import { brokenPromises } from "./receipt-promise";
import type { MoneyProof, MoveIds, MoveSubject, Prepared } from "./types";

/**
 * The steps by which a person moves money, without React: review and approve → prepare → execute.
 * `use-move-flow.ts` connects them to the API, the wallets and the page.
 *
 * Nobody approves values that they did not see. After the proof, the service computes the price
 * again and simulates the movement. The flow then executes at once only when no wallet of the
 * person must sign and every promise of the receipt is kept (`brokenPromises`): the minimum
 * received is not lower; recipient, chain and token are the same; no wallet pays a network fee
 * that the receipt assigned to another payer; no balance falls by more than the receipt says, and
 * no other balance falls; and there is no new warning. Otherwise the flow stops at `check`, which
 * shows the prepared amounts and the simulated balance changes, until the person acts again. When
 * the price fell below the approved minimum, the service returns an error, and the person must
 * accept the new price and approve it.
 */

/**
 * `review`: the receipt, with the approval. `check`: the prepared receipt, because it is worse or
 * its execution failed. `sign`: the prepared receipt, with the actions of the person's wallets.
 */
type Step = "review" | "check" | "sign";

export interface Flow {
  readonly subject: MoveSubject;
  readonly step: Step;
  /** Whether the service has accepted the proof. Another preparation then needs no proof. */
  readonly approved: boolean;
  readonly prepared: Prepared | null;
  /** The subject with the new price, when the price fell below the approved minimum; else null. */
  readonly moved: MoveSubject | null;
}

interface RequestState {
  readonly pending: boolean;
  readonly error: unknown;
}

export interface MoveState {
  readonly flow: Flow | null;
  /** Whether the dialog is open. Closing it does not end the flow. */
  readonly open: boolean;
  readonly preparing: RequestState;
  readonly executing: RequestState;
  /** Whether the flow was executed. It stays true until another subject starts. */
  readonly done: boolean;
}

export type ExecuteBody = MoveIds & { readonly signatures?: Signed[] };

export interface MovePorts {
  readonly prepare: (body: MoveIds | (MoveIds & MoneyProof)) => Promise<Prepared>;
  readonly execute: (
    body: ExecuteBody,
    idempotencyKey: string,
  ) => Promise<{ readonly operationId: string }>;
  readonly signing: Pick<Signing, "load" | "clear" | "run" | "refuse">;
  readonly onDone: (operationId: string) => void;
  /** Returns the current time in milliseconds since 1970. */
  readonly now: () => number;
  readonly newKey: () => string;
}

export interface MoveStore {
  readonly getState: () => MoveState;
  readonly subscribe: (listener: () => void) => () => void;
  /**
   * Opens the dialog. A new subject starts at its review; the current subject continues at its
   * step.
   */
  readonly start: (subject: MoveSubject) => void;
  readonly restore: (subject: MoveSubject, kept: Omit<KeptFlow, "stored">) => void;
  readonly close: () => void;
  readonly back: () => void;
  /**
   * Prepares with the proof. Executes when every promise of the receipt is kept and no wallet must
   * sign. Resolves with false when the proof was refused.
   * @param proof null once the flow is approved
   */
  readonly approve: (proof: MoneyProof | null) => Promise<boolean>;
  /** Prepares an approved flow again and shows the result, without executing it. */
  readonly prepareAgain: () => Promise<void>;
  readonly acceptMoved: () => void;
  readonly execute: () => Promise<void>;
}

const IDLE: RequestState = { pending: false, error: null };
const RUNNING: RequestState = { pending: true, error: null };

/**
 * Errors that the service returns before it checks the proof. After any other error the proof
 * counts as accepted.
 */
const NOT_LOOKED_AT: ReadonlySet<string> = new Set([
  "network_error",
  "quote_expired",
  "quote_already_used",
  "unauthorized",
  "forbidden",
  "insufficient_scope",
  "rate_limited",
  "invalid_request",
  "not_found",
  "internal_error",
  "service_unavailable",
  "signing_off",
]);

const begin = (subject: MoveSubject): Flow => ({
  subject,
  step: "review",
  approved: false,
  prepared: null,
  moved: null,
});

const isSame = (one: MoveSubject, other: MoveSubject): boolean =>
  JSON.stringify(one.ids) === JSON.stringify(other.ids);

/**
 * The changes of the flow after a failed preparation. A refused proof requires another proof, and
 * a changed price must be accepted.
 */
const afterRefusal = (flow: Flow, error: unknown, isFactor: boolean): Partial<Flow> => {
  const reason = codeOf(error) ?? "network_error";
  // Whether the authenticator app or the passkey was removed after the page loaded.
  const isGone = isFactor && !flow.approved && reason === "invalid_state";
  if (isGone || isRefusedProof(error)) return { approved: false, step: "review" };
  const moved = reason === "quote_price_moved" ? (flow.subject.movedTo?.(error) ?? null) : null;
  return { approved: flow.approved || !NOT_LOOKED_AT.has(reason), moved };
};

interface Store {
  readonly get: () => MoveState;
  readonly set: (part: Partial<MoveState>) => void;
  /**
   * Changes the flow. Does nothing if another subject has started, so a late answer cannot change
   * it.
   */
  readonly change: (subject: MoveSubject, part: Partial<Flow>) => void;
  last: { readonly text: string; readonly key: string };
}

const NO_EXECUTION = { text: "", key: "" };

const beginWith = (store: Store, ports: MovePorts, subject: MoveSubject): void => {
  ports.signing.clear();
  store.last = NO_EXECUTION;
  store.set({
    flow: begin(subject),
    preparing: IDLE,
    executing: IDLE,
    done: false,
  });
};

/** The step after a preparation; `review` when the flow can be executed without another look. */
const stepAfter = (subject: MoveSubject, prepared: Prepared): Step => {
  if (prepared.actions.length > 0) return "sign";
  return brokenPromises(subject, prepared).length > 0 ? "check" : "review";
};

const isFactor = (proof: MoneyProof | null): boolean => proof !== null && !("otp" in proof);

interface Preparation {
  readonly proof: MoneyProof | null;
  readonly stepOf: (prepared: Prepared) => Step;
}

/**
 * Prepares the flow. Resolves with null on success, with the error on failure, and with undefined
 * when no request was sent or another subject has started.
 */
const prepare = async (
  store: Store,
  ports: MovePorts,
  { proof, stepOf }: Preparation,
): Promise<unknown> => {
  const { flow, preparing, executing, done } = store.get();
  if (flow === null || preparing.pending || executing.pending || done) return undefined;
  const { subject } = flow;
  store.set({ preparing: RUNNING, executing: IDLE });
  try {
    const prepared = await ports.prepare({
      ...subject.ids,
      ...(flow.approved ? {} : proof),
    });
    if (store.get().flow?.subject !== subject) return undefined;
    // After a new preparation, the same body is a new execution, so it needs a new idempotency
    // key.
    store.last = NO_EXECUTION;
    ports.signing.load(prepared.actions);
    store.change(subject, { prepared, approved: true, step: stepOf(prepared) });
    store.set({ preparing: IDLE });
    return null;
  } catch (error) {
    if (store.get().flow?.subject !== subject) return undefined;
    store.change(subject, afterRefusal(flow, error, isFactor(proof)));
    store.set({ preparing: { pending: false, error } });
    return error;
  }
};

const approve = async (
  store: Store,
  ports: MovePorts,
  proof: MoneyProof | null,
): Promise<boolean> => {
  const subject = store.get().flow?.subject;
  if (subject === undefined) return true;
  const error = await prepare(store, ports, {
    proof,
    stepOf: (prepared) => stepAfter(subject, prepared),
  });
  if (error === null && store.get().flow?.step === "review") await execute(store, ports);
  return error === null || error === undefined || !needsProof(store, error);
};

/** Whether the error leaves the flow without an accepted proof. */
const needsProof = (store: Store, error: unknown): boolean =>
  isRefusedProof(error) || (codeOf(error) === "invalid_state" && !isApproved(store));

const isApproved = (store: Store): boolean => store.get().flow?.approved === true;

/**
 * The idempotency key of a body. Repeating a request that got no answer uses the same key, so the
 * money moves only once.
 */
const keyOf = (store: Store, ports: MovePorts, body: ExecuteBody): string => {
  const text = JSON.stringify(body);
  if (text !== store.last.text) store.last = { text, key: ports.newKey() };
  return store.last.key;
};

const signAndSend = async (
  store: Store,
  ports: MovePorts,
  flow: Flow & { prepared: Prepared },
): Promise<void> => {
  const { subject, prepared } = flow;
  // A wallet may send a transaction that moves money only while the price is locked. Once a
  // transaction has been sent, the remaining actions must be completed.
  const signatures = await ports.signing.run(
    (moved) => moved || Date.parse(prepared.expiresAt) > ports.now(),
  );
  if (signatures === null) return;
  const body = {
    ...subject.ids,
    ...(signatures.length === 0 ? {} : { signatures: [...signatures] }),
  };
  const { operationId } = await ports.execute(body, keyOf(store, ports, body));
  ports.signing.clear();
  if (store.get().flow?.subject === subject) store.set({ done: true });
  ports.onDone(operationId);
};

const execute = async (store: Store, ports: MovePorts): Promise<void> => {
  const { flow, preparing, executing, done } = store.get();
  if (flow?.prepared == null || preparing.pending || executing.pending || done) return;
  const { subject, prepared } = flow;
  const isCurrent = (): boolean => store.get().flow?.subject === subject;
  store.set({ executing: RUNNING });
  try {
    await signAndSend(store, ports, { ...flow, prepared });
    if (isCurrent()) store.set({ executing: IDLE });
  } catch (error) {
    if (!isCurrent()) return;
    store.set({ executing: { pending: false, error } });
    if (store.get().flow?.step === "review") store.change(subject, { step: "check" });
    if (codeOf(error) !== "invalid_signature") return;
    for (const { path, message } of detailsOf(error))
      ports.signing.refuse(path.replace(/^signatures\./, ""), message);
  }
};

/**
 * Creates the store of a flow, from the review to the operation. At most one request of each kind
 * runs at a time.
 */
export const createMoveStore = (ports: MovePorts): MoveStore => {
  let state: MoveState = {
    flow: null,
    open: false,
    preparing: IDLE,
    executing: IDLE,
    done: false,
  };
  const listeners = new Set<() => void>();
  const set = (part: Partial<MoveState>): void => {
    state = { ...state, ...part };
    for (const listener of listeners) listener();
  };
  const change = (subject: MoveSubject, part: Partial<Flow>): void => {
    if (state.flow?.subject === subject) set({ flow: { ...state.flow, ...part } });
  };
  const store: Store = { get: () => state, set, change, last: NO_EXECUTION };
  return {
    getState: () => state,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    start: (subject) => {
      if (state.flow === null || !isSame(state.flow.subject, subject))
        beginWith(store, ports, subject);
      set({ open: true });
    },
    restore: (subject, { open, step, approved, prepared }) => {
      beginWith(store, ports, subject);
      if (prepared !== null) ports.signing.load(prepared.actions);
      change(subject, { step, approved, prepared });
      set({ open });
    },
    close: () => set({ open: false }),
    back: () => {
      if (state.flow === null || state.flow.step === "review") set({ open: false });
      else change(state.flow.subject, { step: "review" });
    },
    approve: (proof) => approve(store, ports, proof),
    prepareAgain: async () => {
      await prepare(store, ports, {
        proof: null,
        stepOf: (prepared) => (prepared.actions.length > 0 ? "sign" : "check"),
      });
    },
    acceptMoved: () => {
      if (state.flow?.moved != null) beginWith(store, ports, state.flow.moved);
    },
    execute: () => execute(store, ports),
  };
};

/** The stored state of a flow, which continues after a reload. No proof is stored. */
const keptFlow = z.object({
  stored: z.unknown(),
  open: z.boolean(),
  step: z.enum(["review", "check"]),
  approved: z.boolean(),
  prepared: prepareSwap.response.nullable(),
});

type KeptFlow = z.infer<typeof keptFlow>;

interface Keepable {
  readonly flow:
    | (Pick<Flow, "approved" | "prepared" | "step"> & {
        readonly subject: { readonly stored?: unknown };
      })
    | null;
  readonly open: boolean;
  readonly done: boolean;
}

export const keptFlowOf = (key: string) => tabStore(key, keptFlow);

/**
 * Stores the flow.
 * @param hasMoved whether a wallet has sent a transaction for the flow. Only this page knows which
 * transaction, and repeating it would move money twice, so the stored flow is deleted
 */
export const keepFlow = (
  key: string,
  { flow, open, done }: Keepable,
  hasMoved: boolean,
): void => {
  if (flow?.subject.stored === undefined || done || hasMoved) {
    keptFlowOf(key).drop();
    return;
  }
  const { subject, approved, prepared } = flow;
  // Actions that wallets must sign are not stored. After a reload, another preparation returns new
  // actions and needs no second proof.
  const mayKeep = prepared !== null && prepared.actions.length === 0;
  keptFlowOf(key).save({
    stored: subject.stored,
    open,
    // An execution without an answer may have been accepted. The person repeats it at `check`.
    step: mayKeep ? "check" : "review",
    approved,
    prepared: mayKeep ? prepared : null,
  });
};
