import { expect } from "vitest";
import type { Body, exampleRecorder } from "./example-recorder";

interface PayoutExamples {
  readonly call: ReturnType<typeof exampleRecorder>["call"];
  /** Returns the code that approves the object. */
  readonly codeFor: (subject: object) => Promise<string>;
  readonly untilFinal: (operationId: string, id: string) => Promise<Body>;
  readonly chainId: number;
  readonly recipient: string;
  readonly person: Readonly<Record<string, string>>;
  /** Changes the records of a paid payout so that it is in doubt who paid it. */
  readonly doubt: (id: string) => Promise<void>;
  /** Headers of an API key that is exempt from codes. */
  readonly key: Readonly<Record<string, string>>;
}

const text = (body: Body, name: string): string => String(body[name]);

const accountPayouts = async (
  { call, codeFor, untilFinal, person, key }: PayoutExamples,
  [sourceAccountId, recipientAccountId]: readonly [string, string],
): Promise<void> => {
  const row = { recipientAccountId, amount: "1", currency: "USDC", reference: "Invoice 17" };
  const rows = { sourceAccountId, transfers: [row], allowDuplicates: true };
  const waiting = await call("createAccountsPayout", { body: rows, as: person });
  await call("cancelPayout", { params: { id: text(waiting, "payoutId") }, as: person });
  const again = await call("createAccountsPayout", { body: rows, as: person, recorded: false });
  const otp = await codeFor({ payoutId: again.payoutId });
  await call("approvePayout", {
    params: { id: text(again, "payoutId") },
    body: { otp },
    as: person,
  });
  const tooMuch = {
    ...rows,
    mode: "independent",
    transfers: [row, { ...row, amount: "25" }, { ...row, amount: "26" }],
  };
  const partial = await call("createAccountsPayout", {
    body: tooMuch,
    as: key,
    recorded: false,
  });
  const params = { id: text(partial, "payoutId") };
  expect(await untilFinal("getPayout", params.id)).toMatchObject({
    status: "partially_completed",
  });
  await call("retryPayout", { params, as: person });
  await call("listPayouts", { query: { limit: "2" }, as: key });
};

const walletPayouts = async (given: PayoutExamples): Promise<string> => {
  const { call, untilFinal, chainId, recipient, person, key } = given;
  const row = { address: recipient, amount: "1", token: "USDC", reference: "Salary" };
  const body = { chainId, transfers: [row], reference: "January" };
  const made = await call("createWalletsPayout", { body, as: key });
  await untilFinal("getPayout", text(made, "payoutId"));
  const params = { id: text(made, "payoutId") };
  await call("listPayoutItems", { params, as: key });
  await given.doubt(params.id);
  await call("decidePayoutDoubt", {
    params,
    body: { batch: 0, decision: "by_chain" },
    as: person,
  });
  return params.id;
};

const schedules = async ({
  call,
  codeFor,
  chainId,
  recipient,
  person,
  key,
}: PayoutExamples): Promise<void> => {
  const row = { address: recipient, amount: "1", token: "USDC", reference: "Salary" };
  const startsAt = new Date(Date.now() + 3_600_000).toISOString();
  const body = {
    chainId,
    transfers: [row],
    startsAt,
    every: "month",
    timeZone: "Europe/Berlin",
  };
  const made = await call("createPayoutSchedule", { body, as: person });
  const params = { id: text(made, "id") };
  const otp = await codeFor({ scheduleId: made.id });
  await call("approvePayoutSchedule", { params, body: { otp }, as: person });
  await call("getPayoutSchedule", { params, as: key });
  await call("listPayoutScheduleItems", { params, as: key });
  await call("listPayoutSchedules", { as: key });
  await call("cancelPayoutSchedule", { params, as: person });
};

/**
 * Calls the operations of payouts and their schedules.
 * @param of `accountIds`: the payer, which has money, and the payee
 * @returns the id of the payout to wallets
 */
export const callPayouts = async (
  given: PayoutExamples,
  of: { readonly accountIds: readonly [string, string] },
): Promise<string> => {
  await accountPayouts(given, of.accountIds);
  const id = await walletPayouts(given);
  await schedules(given);
  return id;
};
