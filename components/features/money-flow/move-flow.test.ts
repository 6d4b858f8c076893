import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ApiError } from "@/lib/api-client/client";
import { createMoveStore, keepFlow, keptFlowOf, type MovePorts } from "./move-flow";
import type { MoveSubject, Prepared } from "./types";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const PREPARED_UNTIL = NOW + 60_000;

const refusal = (
  code: string,
  fields: { status?: number; details?: ApiError["details"] } = {},
): ApiError =>
  new ApiError({
    status: fields.status ?? 409,
    code,
    message: "No.",
    details: fields.details ?? [],
    requestId: null,
    retryAfterSeconds: null,
    body: null,
  });

const subjectOf = (quoteId: string, more: Partial<MoveSubject> = {}): MoveSubject => ({
  ids: { quoteId },
  noun: "swap",
  act: "Swap 1.00 WETH",
  votes: null,
  from: [],
  to: {
    amount: "10",
    minAmount: "9.9",
    token: { symbol: "USDC", address: "0x0c" },
    address: "0x01",
    chainId: 1,
  },
  warnings: [],
  networkFees: [],
  expiresAt: new Date(NOW + 300_000).toISOString(),
  receipt: () => null,
  ...more,
});

// The tests read none of the other fields.
const PREPARED = {
  expiresAt: new Date(PREPARED_UNTIL).toISOString(),
  to: subjectOf("qt_1").to,
  warnings: [],
  networkFees: [],
  simulation: { balanceChanges: [] },
  actions: [],
} as unknown as Prepared;
const TO_SIGN = { ...PREPARED, actions: [{ id: "act_1" }] } as unknown as Prepared;
const WORSE = { ...PREPARED, to: { ...PREPARED.to, minAmount: "9.8" } };
const OTP = { otp: "123456" };

const setUp = (more: Partial<MovePorts> = {}) => {
  let key = 0;
  const ports = {
    prepare: vi.fn<MovePorts["prepare"]>().mockResolvedValue(PREPARED),
    execute: vi.fn<MovePorts["execute"]>().mockResolvedValue({ operationId: "op_1" }),
    signing: {
      load: vi.fn<MovePorts["signing"]["load"]>(),
      clear: vi.fn<MovePorts["signing"]["clear"]>(),
      run: vi.fn<MovePorts["signing"]["run"]>().mockResolvedValue([]),
      refuse: vi.fn<MovePorts["signing"]["refuse"]>(),
    },
    onDone: vi.fn<MovePorts["onDone"]>(),
    now: () => NOW,
    newKey: () => `key-${String(++key)}`,
  };
  const store = createMoveStore({ ...ports, ...more });
  const flow = () => {
    const now = store.getState().flow;
    if (now === null) throw new Error("No flow has begun.");
    return now;
  };
  return { store, flow, ...ports };
};

/** Starts and approves a flow, so that it waits for the signatures of the wallets. */
const setUpSigning = async () => {
  const flow = setUp();
  flow.prepare.mockResolvedValue(TO_SIGN);
  flow.store.start(subjectOf("qt_1"));
  await flow.store.approve(OTP);
  return flow;
};

test("a proof prepares what is reviewed, and executes it at once when the receipt holds", async () => {
  const { store, flow, prepare, execute, onDone, signing } = setUp();
  store.start(subjectOf("qt_1"));
  expect(await store.approve(OTP)).toBe(true);
  expect(prepare.mock.calls).toEqual([[{ quoteId: "qt_1", otp: "123456" }]]);
  expect(signing.load).toHaveBeenCalledWith([]);
  expect(execute.mock.calls).toEqual([[{ quoteId: "qt_1" }, "key-1"]]);
  expect(onDone.mock.calls).toEqual([["op_1"]]);
  expect(flow()).toMatchObject({ step: "review", approved: true });
});

test("nothing worse than the receipt is executed before the person has seen it", async () => {
  const { store, flow, prepare, execute, onDone } = setUp();
  prepare.mockResolvedValue(WORSE);
  store.start(subjectOf("qt_1"));
  expect(await store.approve(OTP)).toBe(true);
  expect(flow()).toMatchObject({ step: "check", approved: true, prepared: WORSE });
  expect(execute).not.toHaveBeenCalled();
  // Preparing again shows the newest result. Only the person's act executes it.
  prepare.mockResolvedValueOnce(PREPARED);
  await store.prepareAgain();
  expect(flow()).toMatchObject({ step: "check", prepared: PREPARED });
  expect(execute).not.toHaveBeenCalled();
  await store.execute();
  expect(onDone).toHaveBeenCalledTimes(1);
});

test("what wallets have to sign is shown before they are asked", async () => {
  const { store, flow, execute, signing } = await setUpSigning();
  expect(flow()).toMatchObject({ step: "sign", approved: true, prepared: TO_SIGN });
  expect(signing.load).toHaveBeenCalledWith(TO_SIGN.actions);
  expect(signing.run).not.toHaveBeenCalled();
  expect(execute).not.toHaveBeenCalled();
  await store.execute();
  expect(signing.run).toHaveBeenCalledTimes(1);
  expect(execute).toHaveBeenCalledTimes(1);
});

test("a refused proof is reported, so that the field is cleared, and another one may follow", async () => {
  const { store, flow, prepare, execute } = setUp();
  store.start(subjectOf("qt_1"));
  for (const code of ["otp_invalid", "invalid_signature", "invalid_state"]) {
    const error = refusal(code);
    prepare.mockRejectedValueOnce(error);
    expect(await store.approve({ totp: "000000" })).toBe(false);
    expect(flow()).toMatchObject({ step: "review", approved: false });
    expect(store.getState().preparing).toEqual({ pending: false, error });
  }
  expect(execute).not.toHaveBeenCalled();
  prepare.mockClear();
  expect(await store.approve({ totp: "123456" })).toBe(true);
  expect(prepare.mock.calls).toEqual([[{ quoteId: "qt_1", totp: "123456" }]]);
  expect(execute).toHaveBeenCalledTimes(1);
});

test("a quote that expires before its proof is reported, keeps the code unspent, and a new quote begins anew", async () => {
  const { store, flow, prepare, execute } = setUp();
  store.start(subjectOf("qt_1"));
  const expired = refusal("quote_expired");
  prepare.mockRejectedValueOnce(expired);
  // The code was not refused, so the field keeps it.
  expect(await store.approve(OTP)).toBe(true);
  expect(store.getState().preparing).toEqual({ pending: false, error: expired });
  expect(flow()).toMatchObject({ step: "review", approved: false, prepared: null });
  expect(execute).not.toHaveBeenCalled();
  store.start(subjectOf("qt_2"));
  expect(flow()).toMatchObject({ subject: { ids: { quoteId: "qt_2" } }, step: "review" });
  expect(store.getState().preparing.error).toBeNull();
});

test("an error after the proof was accepted needs no second proof", async () => {
  const { store, flow, prepare, onDone } = setUp();
  store.start(subjectOf("qt_1"));
  prepare.mockRejectedValueOnce(refusal("simulation_failed"));
  await store.approve(OTP);
  expect(flow()).toMatchObject({ step: "review", approved: true });
  await store.approve(null);
  expect(prepare).toHaveBeenLastCalledWith({ quoteId: "qt_1" });
  expect(onDone).toHaveBeenCalledTimes(1);
});

test("an error of execute stops at what was prepared, and the next try has the same idempotency key", async () => {
  const { store, flow, execute, onDone } = setUp();
  const lost = refusal("network_error", { status: 0 });
  execute.mockRejectedValueOnce(lost);
  store.start(subjectOf("qt_1"));
  await store.approve(OTP);
  expect(flow()).toMatchObject({ step: "check", prepared: PREPARED });
  expect(store.getState().executing).toEqual({ pending: false, error: lost });
  expect(onDone).not.toHaveBeenCalled();
  await store.execute();
  expect(execute.mock.calls.map(([, key]) => key)).toEqual(["key-1", "key-1"]);
  expect(onDone).toHaveBeenCalledTimes(1);
});

test("another preparation makes the same body another execution", async () => {
  const { store, execute } = setUp();
  execute.mockRejectedValueOnce(refusal("quote_expired"));
  store.start(subjectOf("qt_1"));
  await store.approve(OTP);
  await store.prepareAgain();
  await store.execute();
  expect(execute.mock.calls.map(([, key]) => key)).toEqual(["key-1", "key-2"]);
});

test("a double submit sends each request once, also after it has succeeded", async () => {
  const { store, prepare, execute, onDone } = setUp();
  store.start(subjectOf("qt_1"));
  await Promise.all([store.approve(OTP), store.approve(OTP), store.execute()]);
  await Promise.all([store.approve(OTP), store.execute(), store.prepareAgain()]);
  for (const request of [prepare, execute, onDone]) expect(request).toHaveBeenCalledTimes(1);
});

test("the same subject goes on where it was closed; an answer about an abandoned one changes nothing", async () => {
  const { store, flow, prepare, execute, signing } = setUp();
  prepare.mockResolvedValueOnce(WORSE);
  store.start(subjectOf("qt_1"));
  await store.approve(OTP);
  store.close();
  store.start(subjectOf("qt_1"));
  expect(store.getState().open).toBe(true);
  expect(flow()).toMatchObject({ step: "check", prepared: WORSE });
  signing.load.mockClear();

  let answer: (prepared: Prepared) => void = () => undefined;
  prepare.mockReturnValueOnce(new Promise((resolve) => (answer = resolve)));
  store.start(subjectOf("qt_2"));
  const late = store.approve(OTP);
  store.start(subjectOf("qt_3"));
  answer(PREPARED);
  await late;
  expect(flow()).toMatchObject({
    subject: { ids: { quoteId: "qt_3" } },
    step: "review",
    approved: false,
    prepared: null,
  });
  expect(store.getState().preparing.pending).toBe(false);
  expect(signing.load).not.toHaveBeenCalled();
  expect(execute).not.toHaveBeenCalled();
});

test.each(["forbidden", "insufficient_scope", "signing_off", "internal_error"])(
  "an answer with %s came before the proof was checked, so nothing is approved",
  async (code) => {
    const { store, flow, prepare } = setUp();
    store.start(subjectOf("qt_1"));
    prepare.mockRejectedValueOnce(refusal(code));
    expect(await store.approve(OTP)).toBe(true);
    expect(flow()).toMatchObject({ step: "review", approved: false });
  },
);

test("a price that moved has to be accepted, and the fresh quote needs a proof of its own", async () => {
  const fresh = subjectOf("qt_2");
  const { store, flow, prepare, execute } = setUp();
  store.start(subjectOf("qt_1", { movedTo: () => fresh }));
  prepare.mockRejectedValueOnce(refusal("quote_price_moved"));
  await store.approve(OTP);
  expect(flow().moved).toBe(fresh);
  expect(execute).not.toHaveBeenCalled();
  store.acceptMoved();
  expect(flow()).toMatchObject({
    subject: { ids: { quoteId: "qt_2" } },
    step: "review",
    approved: false,
    moved: null,
  });
});

test("wallets are not asked once the prepared price has expired, unless money has moved already", async () => {
  const { store, signing, execute, prepare } = setUp({ now: () => PREPARED_UNTIL + 1 });
  prepare.mockResolvedValue(TO_SIGN);
  store.start(subjectOf("qt_1"));
  await store.approve(OTP);
  signing.run.mockResolvedValueOnce(null);
  await store.execute();
  const mayAsk = signing.run.mock.calls[0]?.[0];
  expect([mayAsk?.(false), mayAsk?.(true)]).toEqual([false, true]);
  expect(execute).not.toHaveBeenCalled();
  expect(store.getState().executing).toEqual({ pending: false, error: null });
});

test("a signature that the service refused is asked for again", async () => {
  const { store, execute, signing } = await setUpSigning();
  execute.mockRejectedValueOnce(
    refusal("invalid_signature", {
      details: [{ path: "signatures.act_1", message: "is of another wallet" }],
    }),
  );
  await store.execute();
  expect(signing.refuse.mock.calls).toEqual([["act_1", "is of another wallet"]]);
});

/** Keeps the flow in the tab, and goes on with it in a page that was loaded again. */
const reloaded = (before: ReturnType<typeof setUp>, hasMoved = false): typeof before | null => {
  keepFlow("flow", before.store.getState(), hasMoved);
  const kept = keptFlowOf("flow").read();
  if (kept === null) return null;
  const after = setUp();
  after.store.restore(subjectOf("qt_1", { stored: "qt_1" }), kept);
  return after;
};

describe("after a reload", () => {
  beforeEach(() => {
    const kept = new Map<string, string>();
    vi.stubGlobal("sessionStorage", {
      getItem: (name: string) => kept.get(name) ?? null,
      setItem: (name: string, text: string) => kept.set(name, text),
      removeItem: (name: string) => kept.delete(name),
    });
  });
  afterEach(() => vi.unstubAllGlobals());

  const begun = () => {
    const flow = setUp();
    flow.store.start(subjectOf("qt_1", { stored: "qt_1" }));
    return flow;
  };

  test("a review that was not approved is open again, and nothing is sent by itself", () => {
    const after = reloaded(begun());
    expect(after?.store.getState()).toMatchObject({
      open: true,
      flow: { step: "review", approved: false, prepared: null },
    });
    expect(after?.prepare).not.toHaveBeenCalled();
    expect(after?.execute).not.toHaveBeenCalled();
  });

  test("what was approved and must be signed is prepared again without another proof", async () => {
    const before = begun();
    before.prepare.mockResolvedValue(TO_SIGN);
    await before.store.approve(OTP);
    const after = reloaded(before);
    expect(after?.flow()).toMatchObject({ step: "review", approved: true, prepared: null });
    await after?.store.approve(null);
    expect(after?.prepare.mock.calls).toEqual([[{ quoteId: "qt_1" }]]);
  });

  test("a flow is dropped once a wallet sent a transaction for it, or it was executed", async () => {
    const before = begun();
    before.prepare.mockResolvedValue(TO_SIGN);
    await before.store.approve(OTP);
    expect(reloaded(before, true)).toBeNull();
    const done = begun();
    await done.store.approve(OTP);
    expect(reloaded(done)).toBeNull();
  });

  test("a prepared flow waits for the person's act, also when an execution got no answer", () => {
    const after = setUp();
    after.store.restore(subjectOf("qt_1"), {
      open: true,
      step: "check",
      approved: true,
      prepared: PREPARED,
    });
    expect(after.flow()).toMatchObject({ step: "check", approved: true, prepared: PREPARED });
    expect(after.signing.load).toHaveBeenLastCalledWith(PREPARED.actions);
    expect(after.execute).not.toHaveBeenCalled();
  });
});
