import { describe, expect, test } from "vitest";
import {
  type Action,
  inOrder,
  isApproval,
  movedMoney,
  mustBeMined,
  signaturesOf,
  type SigningStep,
  standingOf,
  stepsOf,
  type StepState,
} from "./signing-model";

const ADA = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const TOKEN = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

const base = (id: string) =>
  ({
    id,
    walletId: "wal_1",
    walletAddress: ADA,
    signerAddress: ADA,
    chainId: 31337,
    description: id,
  }) as const;
const transaction = (id: string, data: string, value = "0", chainId = 31337): Action => ({
  ...base(id),
  chainId,
  kind: "transaction",
  transaction: { to: TOKEN, data, value, gas: "21000" },
});
const approval = (id: string, amount = "01"): Action => transaction(id, `0x095ea7b3${amount}`);
const payment = (id: string): Action => transaction(id, "0x12345678");
const signature = (id: string, text = "one"): Action => ({
  ...base(id),
  kind: "typed_data",
  typedData: { types: {}, primaryType: "Text", domain: {}, message: { text } },
});

const at = (step: SigningStep, state: StepState): SigningStep => ({ ...step, at: state });
const done = (step: SigningStep): SigningStep =>
  at(step, {
    state: "done",
    signed: {
      actionId: step.action.id,
      ...(step.action.kind === "transaction" ? { txHash: "0x1" } : { signature: "0x2" }),
    },
  });
const steps = (...actions: Action[]): SigningStep[] => [...stepsOf(actions, [])];

describe("the order", () => {
  test("signatures come before anything that is sent, and what moves money comes last", () => {
    const swap = payment("pay");
    const other = transaction("other", "0xabcdef01", "5", 31338);
    const order = inOrder([approval("approve"), swap, other, signature("sign")]);
    expect(order.map((action) => action.id)).toEqual(["sign", "approve", "pay", "other"]);
  });

  test("a transaction is mined before the next one of the same wallet on the same chain is asked for", () => {
    const list = steps(
      approval("approve"),
      payment("pay"),
      transaction("other", "0xabcdef01", "5", 31338),
    );
    expect(list.map((_, index) => mustBeMined(list, index))).toEqual([true, false, false]);
  });
});

test("an approval is told from what moves money, also when it is hidden in the value", () => {
  expect(isApproval(approval("a"))).toBe(true);
  expect(isApproval(payment("a"))).toBe(false);
  expect(isApproval(transaction("a", "0x095ea7b301", "1"))).toBe(false);
  expect(isApproval(signature("a"))).toBe(false);
});

describe("what execute takes", () => {
  test("is there only once every step is done", () => {
    const [sign, pay] = steps(signature("sign"), payment("pay"));
    if (!sign || !pay) throw new Error("steps are missing");
    expect(signaturesOf([done(sign), pay])).toBeNull();
    expect(signaturesOf([done(sign), done(pay)])).toEqual([
      { actionId: "sign", signature: "0x2" },
      { actionId: "pay", txHash: "0x1" },
    ]);
    expect(signaturesOf([])).toEqual([]);
  });
});

describe("preparing again", () => {
  test("keeps an approval that is asked for no more, and execute is not told of it", () => {
    const before = steps(approval("approve"), payment("pay")).map((step, index) =>
      index === 0 ? done(step) : step,
    );
    const after = stepsOf([payment("pay-2")], before);
    expect(after.map((step) => [step.action.id, step.kept, step.at.state])).toEqual([
      ["approve", true, "done"],
      ["pay-2", false, "todo"],
    ]);
    expect(signaturesOf(after.map((step) => (step.kept ? step : done(step))))).toEqual([
      { actionId: "pay-2", txHash: "0x1" },
    ]);
  });

  test("asks anew for signatures, and for an approval that the token does not know yet", () => {
    const before = steps(approval("approve"), signature("sign")).map(done);
    const after = stepsOf([approval("approve-2"), signature("sign-2")], before);
    expect(after.map((step) => [step.action.id, step.at.state])).toEqual([
      ["sign-2", "todo"],
      ["approve-2", "todo"],
    ]);
  });
});

describe("where the money is when a step stops the rest", () => {
  const rejected: StepState = { state: "rejected" };
  const list = steps(signature("sign"), approval("approve"), payment("pay"));
  const [sign, approve, pay] = list as [SigningStep, SigningStep, SigningStep];

  test("nothing was sent while only signatures were given", () => {
    expect(standingOf([done(sign), at(approve, rejected), pay])).toEqual({
      title: "You rejected step 2 of 3.",
      money: "Nothing was sent, and the money is in your wallets.",
    });
  });

  test("an approval that was sent moves nothing", () => {
    const now = [done(sign), done(approve), at(pay, rejected)];
    expect(standingOf(now)).toEqual({
      title: "You rejected step 3 of 3.",
      money:
        "The approval was sent and stays good for exactly this amount; the money is in your wallet.",
    });
    expect(movedMoney(now)).toBe(false);
  });

  test("money that left a wallet is said so, also while the chain does not show it yet", () => {
    const unseen: StepState = { state: "failed", reason: "not seen", txHash: "0x1" };
    const now = [done(sign), done(approve), at(pay, unseen)];
    expect(movedMoney(now)).toBe(true);
    expect(standingOf(now)?.title).toBe("Step 3 of 3 did not work: not seen");
    expect(standingOf(now)?.money).toMatch(
      /^The transaction of step 3 was sent and moves its money\./,
    );
  });

  test("a reverted transaction has moved nothing", () => {
    const now = [done(sign), done(approve), at(pay, { state: "failed", reason: "reverted" })];
    expect(movedMoney(now)).toBe(false);
  });

  test("nothing is said while all goes well", () => {
    expect(standingOf([done(sign), at(approve, { state: "asking" }), pay])).toBeNull();
  });
});
