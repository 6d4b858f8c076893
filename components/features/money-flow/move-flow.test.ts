import { expect, test, vi } from "vitest";
import { ApiError } from "@/lib/api-client/client";
import { createMoveStore, mayContinue, type MovePorts } from "./move-flow";
import type { MoveSubject, Prepared, SentCode } from "./types";

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
  sources: 1,
  to: {
    amount: "10",
    minAmount: "9.9",
    token: { symbol: "USDC" },
    address: "0x01",
    chainId: 1,
  },
  expiresAt: new Date(NOW + 300_000).toISOString(),
  receipt: () => null,
  ...more,
});

// The tests read none of the other fields.
const SENT = { otpId: "otp_1", destination: "a…@example.test" } as SentCode;
const PREPARED = {
  expiresAt: new Date(PREPARED_UNTIL).toISOString(),
  actions: [],
} as unknown as Prepared;

const setUp = (more: Partial<MovePorts> = {}) => {
  let key = 0;
  const ports = {
    requestOtp: vi.fn<MovePorts["requestOtp"]>().mockResolvedValue(SENT),
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

/** Up to the review of a quote whose code was right. */
const setUpReview = async () => {
  const flow = setUp();
  flow.store.start(subjectOf("qt_1"));
  await flow.store.sendCode();
  flow.store.setCode("123456");
  await flow.store.prepare("123456");
  return flow;
};

test("the code goes to prepare, and what was prepared is reviewed and executed", async () => {
  const { store, flow, prepare, execute, onDone, signing } = await setUpReview();
  expect(prepare).toHaveBeenCalledWith({ quoteId: "qt_1", otp: "123456" });
  expect(flow()).toMatchObject({ step: "review", approved: true, prepared: PREPARED });
  expect(signing.load).toHaveBeenCalledWith([]);
  await store.execute();
  expect(execute.mock.calls).toEqual([[{ quoteId: "qt_1" }, "key-1"]]);
  expect(onDone.mock.calls).toEqual([["op_1"]]);
});

test("a second factor goes to prepare in place of the mailed code, which needs not be sent", async () => {
  const { store, flow, prepare, requestOtp } = setUp();
  store.start(subjectOf("qt_1"));
  for (const code of ["otp_invalid", "invalid_signature", "invalid_state"]) {
    prepare.mockRejectedValueOnce(refusal(code));
    await store.prepare({ totp: "000000" });
    expect(flow()).toMatchObject({ step: "code", approved: false });
  }
  prepare.mockClear();
  await store.prepare({ totp: "123456" });
  expect(prepare.mock.calls).toEqual([[{ quoteId: "qt_1", totp: "123456" }]]);
  expect(flow()).toMatchObject({ step: "review", approved: true });
  expect(requestOtp).not.toHaveBeenCalled();
});

test("a quote that expires while its code is typed is reported, keeps the code unspent, and a new quote begins anew", async () => {
  const { store, flow, prepare } = setUp();
  store.start(subjectOf("qt_1"));
  await store.sendCode();
  store.setCode("123456");
  const expired = refusal("quote_expired");
  prepare.mockRejectedValueOnce(expired);
  await store.prepare("123456");
  expect(store.getState().preparing).toEqual({ pending: false, error: expired });
  expect(flow()).toMatchObject({
    step: "code",
    code: "123456",
    approved: false,
    prepared: null,
  });
  store.start(subjectOf("qt_2"));
  expect(flow()).toMatchObject({
    subject: { ids: { quoteId: "qt_2" } },
    step: "code",
    sent: null,
    code: "",
  });
  expect(store.getState().preparing.error).toBeNull();
});

test("a wrong code is emptied and another one is asked for", async () => {
  const { store, flow, prepare } = setUp();
  store.start(subjectOf("qt_1"));
  store.setCode("000000");
  prepare.mockRejectedValueOnce(refusal("otp_invalid"));
  await store.prepare("000000");
  expect(flow()).toMatchObject({ step: "code", code: "", approved: false });
  expect(mayContinue(flow())).toBe(false);
});

test("an error after the code was right needs no second code", async () => {
  const { store, flow, prepare } = setUp();
  store.start(subjectOf("qt_1"));
  store.setCode("123456");
  prepare.mockRejectedValueOnce(refusal("simulation_failed"));
  await store.prepare("123456");
  expect(flow().approved).toBe(true);
  expect(mayContinue({ ...flow(), code: "" })).toBe(true);
  await store.prepare("");
  expect(prepare).toHaveBeenLastCalledWith({ quoteId: "qt_1" });
  expect(flow().step).toBe("review");
});

test("an error of execute stays in the review, and the next try has the same idempotency key", async () => {
  const { store, flow, execute, onDone } = await setUpReview();
  const lost = refusal("network_error", { status: 0 });
  execute.mockRejectedValueOnce(lost);
  await store.execute();
  expect(flow().step).toBe("review");
  expect(store.getState().executing).toEqual({ pending: false, error: lost });
  expect(onDone).not.toHaveBeenCalled();
  await store.execute();
  expect(execute.mock.calls.map(([, key]) => key)).toEqual(["key-1", "key-1"]);
  expect(onDone).toHaveBeenCalledTimes(1);
});

test("another preparation makes the same body another execution", async () => {
  const { store, execute } = await setUpReview();
  execute.mockRejectedValueOnce(refusal("quote_expired"));
  await store.execute();
  await store.prepare("");
  await store.execute();
  expect(execute.mock.calls.map(([, key]) => key)).toEqual(["key-1", "key-2"]);
});

test("a double submit sends each request once, also after it has succeeded", async () => {
  const { store, requestOtp, prepare, execute, onDone } = setUp();
  store.start(subjectOf("qt_1"));
  await Promise.all([store.sendCode(), store.sendCode()]);
  store.setCode("123456");
  await Promise.all([store.prepare("123456"), store.prepare("123456")]);
  await Promise.all([store.execute(), store.execute()]);
  await store.execute();
  for (const request of [requestOtp, prepare, execute, onDone])
    expect(request).toHaveBeenCalledTimes(1);
});

test("the same subject goes on where it was closed; an answer about an abandoned one changes nothing", async () => {
  const { store, flow, prepare, signing } = setUp();
  store.start(subjectOf("qt_1"));
  await store.sendCode();
  store.setCode("1234");
  store.close();
  store.start(subjectOf("qt_1"));
  expect(store.getState().open).toBe(true);
  expect(flow()).toMatchObject({ sent: SENT, code: "1234" });

  let answer: (prepared: Prepared) => void = () => undefined;
  prepare.mockReturnValueOnce(new Promise((resolve) => (answer = resolve)));
  const late = store.prepare("123456");
  store.start(subjectOf("qt_2"));
  answer(PREPARED);
  await late;
  expect(flow()).toMatchObject({
    subject: { ids: { quoteId: "qt_2" } },
    step: "code",
    approved: false,
    prepared: null,
  });
  expect(store.getState().preparing.pending).toBe(false);
  expect(signing.load).not.toHaveBeenCalled();
});

test.each(["forbidden", "insufficient_scope", "signing_off", "internal_error"])(
  "an answer with %s came before the code was checked, so nothing is approved",
  async (code) => {
    const { store, flow, prepare } = setUp();
    store.start(subjectOf("qt_1"));
    store.setCode("123456");
    prepare.mockRejectedValueOnce(refusal(code));
    await store.prepare("123456");
    expect(flow()).toMatchObject({ step: "code", code: "123456", approved: false });
  },
);

test("a price that moved has to be accepted, and the fresh quote needs a code of its own", async () => {
  const fresh = subjectOf("qt_2");
  const { store, flow, prepare } = setUp();
  store.start(subjectOf("qt_1", { movedTo: () => fresh }));
  store.setCode("123456");
  prepare.mockRejectedValueOnce(refusal("quote_price_moved"));
  await store.prepare("123456");
  expect(flow().moved).toBe(fresh);
  expect(mayContinue(flow())).toBe(false);
  store.acceptMoved();
  expect(flow()).toMatchObject({
    subject: { ids: { quoteId: "qt_2" } },
    code: "",
    approved: false,
    moved: null,
  });
});

test("wallets are not asked once the prepared price has expired, unless money has moved already", async () => {
  const { store, signing, execute } = setUp({ now: () => PREPARED_UNTIL + 1 });
  store.start(subjectOf("qt_1"));
  await store.prepare("123456");
  signing.run.mockResolvedValueOnce(null);
  await store.execute();
  const mayAsk = signing.run.mock.calls[0]?.[0];
  expect([mayAsk?.(false), mayAsk?.(true)]).toEqual([false, true]);
  expect(execute).not.toHaveBeenCalled();
  expect(store.getState().executing).toEqual({ pending: false, error: null });
});

test("a signature that the service refused is asked for again", async () => {
  const { store, execute, signing } = await setUpReview();
  execute.mockRejectedValueOnce(
    refusal("invalid_signature", {
      details: [{ path: "signatures.act_1", message: "is of another wallet" }],
    }),
  );
  await store.execute();
  expect(signing.refuse.mock.calls).toEqual([["act_1", "is of another wallet"]]);
});

test("after a reload the flow goes on where it was: at the code that was sent, or at the review", async () => {
  const { store, flow, signing, prepare } = setUp();
  const subject = subjectOf("qt_1");
  const kept = {
    open: true,
    step: "code",
    approved: false,
    sent: SENT,
    prepared: null,
  } as const;
  store.restore(subject, kept);
  expect(store.getState()).toMatchObject({
    open: true,
    flow: { subject, step: "code", sent: SENT, code: "" },
  });
  store.restore(subject, { ...kept, step: "review", approved: true, prepared: PREPARED });
  expect(flow()).toMatchObject({ step: "review", approved: true, prepared: PREPARED });
  expect(signing.load).toHaveBeenLastCalledWith(PREPARED.actions);
  // Preparing again needs no other code.
  await store.prepare("");
  expect(prepare).toHaveBeenCalledWith({ quoteId: "qt_1" });
});
