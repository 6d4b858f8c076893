import { z } from "zod";
import type { Signed } from "@/components/features/signing/signing-model";
import type { Signing } from "@/components/features/signing/use-signing";
import { tabStore } from "@/components/ui/tab-store";
import { prepareSwap, requestOtp } from "@/lib/contracts/swap";
import { codeOf, detailsOf } from "./api-error";
import type { FactorProof, MoveIds, MoveSubject, Prepared, SentCode } from "./types";

/**
 * The steps by which a person moves money, without React: code → prepare → review → sign (when the
 * person's wallets must sign) → execute. `use-move-flow.ts` connects them to the API, the wallets
 * and the page.
 */

export interface Flow {
  readonly subject: MoveSubject;
  readonly step: "code" | "review";
  readonly sent: SentCode | null;
  readonly code: string;
  /** The service accepted the code, so preparing again needs no code. */
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
  readonly sending: RequestState;
  readonly preparing: RequestState;
  readonly executing: RequestState;
  /** Whether the flow was executed. It stays true until another subject starts. */
  readonly done: boolean;
}

export type ExecuteBody = MoveIds & { readonly signatures?: Signed[] };

export interface MovePorts {
  readonly requestOtp: (ids: MoveIds) => Promise<SentCode>;
  readonly prepare: (
    body: MoveIds & ({ readonly otp?: string } | FactorProof),
  ) => Promise<Prepared>;
  readonly execute: (
    body: ExecuteBody,
    idempotencyKey: string,
  ) => Promise<{ readonly operationId: string }>;
  readonly signing: Pick<Signing, "load" | "clear" | "run" | "refuse">;
  readonly onDone: (operationId: string) => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly newKey: () => string;
}

export interface MoveStore {
  readonly getState: () => MoveState;
  readonly subscribe: (listener: () => void) => () => void;
  /**
   * Opens the dialog. A new subject starts at the code step; the current subject continues at its
   * step.
   */
  readonly start: (subject: MoveSubject) => void;
  readonly restore: (subject: MoveSubject, kept: Omit<KeptFlow, "stored">) => void;
  readonly close: () => void;
  readonly back: () => void;
  readonly setCode: (code: string) => void;
  readonly sendCode: () => Promise<void>;
  /** @param proof the mailed code or a second factor; ignored once the flow is approved */
  readonly prepare: (proof: string | FactorProof) => Promise<void>;
  readonly acceptMoved: () => void;
  readonly execute: () => Promise<void>;
}

const CODE_DIGITS = 6;
const IDLE: RequestState = { pending: false, error: null };
const RUNNING: RequestState = { pending: true, error: null };

const REFUSED_CODE: ReadonlySet<string> = new Set([
  "otp_required",
  "otp_invalid",
  "otp_expired",
  "otp_attempts_exceeded",
  "invalid_signature",
]);
/**
 * Errors that the service returns before it checks the code. After any other error the code counts
 * as accepted.
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

/** Whether all digits are typed, or the flow is approved already. */
export const mayContinue = (flow: Flow): boolean =>
  flow.moved === null && (flow.approved || flow.code.length === CODE_DIGITS);

const begin = (subject: MoveSubject): Flow => ({
  subject,
  step: "code",
  sent: null,
  code: "",
  approved: false,
  prepared: null,
  moved: null,
});

const isSame = (one: MoveSubject, other: MoveSubject): boolean =>
  JSON.stringify(one.ids) === JSON.stringify(other.ids);

/**
 * The changes of the flow after a refused preparation. A wrong code must be typed again, and a
 * moved price must be accepted.
 */
const afterRefusal = (flow: Flow, error: unknown, isFactor: boolean): Partial<Flow> => {
  const reason = codeOf(error) ?? "network_error";
  // The authenticator app or the passkey was removed after the page loaded.
  const isGone = isFactor && !flow.approved && reason === "invalid_state";
  if (isGone || REFUSED_CODE.has(reason)) return { code: "", approved: false, step: "code" };
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
    sending: IDLE,
    preparing: IDLE,
    executing: IDLE,
    done: false,
  });
};

const sendCode = async (store: Store, ports: MovePorts): Promise<void> => {
  const { flow, sending } = store.get();
  if (flow === null || sending.pending) return;
  const { subject } = flow;
  store.set({ sending: RUNNING, preparing: IDLE });
  try {
    const sent = await ports.requestOtp(subject.ids);
    if (store.get().flow?.subject !== subject) return;
    store.change(subject, { sent, code: "" });
    store.set({ sending: IDLE });
  } catch (error) {
    if (store.get().flow?.subject === subject)
      store.set({ sending: { pending: false, error } });
  }
};

const fieldsOf = (proof: string | FactorProof): { readonly otp: string } | FactorProof =>
  typeof proof === "string" ? { otp: proof } : proof;

const prepare = async (
  store: Store,
  ports: MovePorts,
  proof: string | FactorProof,
): Promise<void> => {
  const { flow, preparing, executing } = store.get();
  if (flow === null || preparing.pending || executing.pending) return;
  const { subject } = flow;
  store.set({ preparing: RUNNING, executing: IDLE });
  try {
    const prepared = await ports.prepare({
      ...subject.ids,
      ...(flow.approved ? {} : fieldsOf(proof)),
    });
    if (store.get().flow?.subject !== subject) return;
    // After a new preparation, the same body is a new execution and needs a new key.
    store.last = NO_EXECUTION;
    ports.signing.load(prepared.actions);
    store.change(subject, { prepared, approved: true, step: "review" });
    store.set({ preparing: IDLE });
  } catch (error) {
    if (store.get().flow?.subject !== subject) return;
    store.change(subject, afterRefusal(flow, error, typeof proof !== "string"));
    store.set({ preparing: { pending: false, error } });
  }
};

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
  // A wallet may send a transaction that moves money only while the price is locked. Once one has
  // been sent, the remaining actions must be completed.
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
    if (codeOf(error) !== "invalid_signature") return;
    for (const { path, message } of detailsOf(error))
      ports.signing.refuse(path.replace(/^signatures\./, ""), message);
  }
};

/**
 * Creates the store of a flow, from the code to the operation. At most one request of each kind
 * runs at a time.
 */
export const createMoveStore = (ports: MovePorts): MoveStore => {
  let state: MoveState = {
    flow: null,
    open: false,
    sending: IDLE,
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
    restore: (subject, { open, step, approved, sent, prepared }) => {
      beginWith(store, ports, subject);
      if (prepared !== null) ports.signing.load(prepared.actions);
      change(subject, { step, approved, sent, prepared });
      set({ open });
    },
    close: () => set({ open: false }),
    back: () => {
      if (state.flow?.step === "review") change(state.flow.subject, { step: "code" });
      else set({ open: false });
    },
    setCode: (code) => {
      if (state.flow !== null) change(state.flow.subject, { code });
    },
    sendCode: () => sendCode(store, ports),
    prepare: (proof) => prepare(store, ports, proof),
    acceptMoved: () => {
      if (state.flow?.moved != null) beginWith(store, ports, state.flow.moved);
    },
    execute: () => execute(store, ports),
  };
};

/** The stored state of a flow, which continues after a reload. The typed code is not stored. */
const keptFlow = z.object({
  stored: z.unknown(),
  open: z.boolean(),
  step: z.enum(["code", "review"]),
  approved: z.boolean(),
  sent: requestOtp.response.nullable(),
  prepared: prepareSwap.response.nullable(),
});

type KeptFlow = z.infer<typeof keptFlow>;

interface Keepable {
  readonly flow: {
    readonly subject: { readonly stored?: unknown };
    readonly step: KeptFlow["step"];
    readonly approved: boolean;
    readonly sent: SentCode | null;
    readonly prepared: Prepared | null;
  } | null;
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
  const { subject, step, approved, sent, prepared } = flow;
  // Actions that wallets must sign are not stored. After a reload, preparing again returns new ones
  // and needs no second code.
  const mayKeepPrepared = prepared !== null && prepared.actions.length === 0;
  keptFlowOf(key).save({
    stored: subject.stored,
    open,
    step: mayKeepPrepared ? step : "code",
    approved,
    sent,
    prepared: mayKeepPrepared ? prepared : null,
  });
};
