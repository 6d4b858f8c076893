/**
 * Calls every private operation once over real HTTP, with an engine that needs neither chains nor
 * proofs; see examples.int.test.ts.
 */
import { beforeAll, expect, inject, test } from "vitest";
import { namedContracts } from "@/lib/contracts/all";
import recorded from "@/lib/contracts/examples/private.json";
import { openApiDocument } from "@/lib/http/openapi";
import { EXAMPLES } from "@/lib/http/openapi-errors";
import {
  exampleRecorder,
  operationsOf,
  writeExamples,
  type Body,
} from "@/lib/dev/testing/example-recorder";
import { testAccount } from "@/lib/dev/testing/factories";
import { serveApi } from "@/lib/dev/testing/http";
import { forgetIn } from "@/lib/dev/testing/lost-answers";
import { lintOpenApi } from "@/lib/dev/testing/lint-openapi";
import { privateMoney } from "@/lib/dev/testing/private-money";

const HALF_HOUR_MS = 1_900_000;
const money = await privateMoney();
const { api, chainId, world, workerClock } = money;
const { call, examples } = exampleRecorder(
  await serveApi(api.services),
  forgetIn(api.services.database),
);
const session = await api.signIn();
const email = await api.verifiedEmail(session);
const toAddress = testAccount().address;
const person = { authorization: `Bearer ${session.accessToken}` };
const key = {
  "x-api-key": (await api.createKey(session, { otp: "exempt", dailyCapUsd: "1000" })).secret,
};

const text = (body: Body, name: string): string => String(body[name]);

const newWallet = async (...notes: readonly string[]): Promise<string> => {
  const id = text(
    await call("createPrivacyWallet", { body: { name: "Payroll" }, as: person }),
    "id",
  );
  for (const amount of notes) await money.deposit(id, "USDC", amount);
  return id;
};

const exportWallet = async (id: string): Promise<void> => {
  const params = { id };
  const asked = await call("exportPrivacyWallet", {
    params,
    body: {},
    as: person,
    recorded: false,
  });
  const signature = await session.account.signMessage({ message: text(asked, "message") });
  const approval = { approvalId: asked.approvalId, signature };
  await call("exportPrivacyWallet", { params, body: { approval }, as: person });
};

const moves = async (privacyWalletId: string): Promise<void> => {
  const move = { chainId, token: "USDC", amount: "20", privacyWalletId };
  await call("shield", { body: move, as: person });
  const failing = await call("unshield", { body: { ...move, toAddress }, as: key });
  // Ends as failed: the association set is another one for longer than a note waits.
  world.publishOtherSet();
  await money.look(text(failing, "operationId"));
  workerClock.aheadMs += HALF_HOUR_MS;
  await money.settle(text(failing, "operationId"));
  world.approveDeposits();
  await call("retryOperation", { params: { id: text(failing, "operationId") }, as: key });
  const paid = await call("privateTransfer", { body: { ...move, toAddress }, as: key });
  await money.settle(text(paid, "operationId"));
  await call("getPrivateTransfer", { params: { id: text(paid, "transferId") }, as: key });
  await call("listPrivateTransfers", { query: { limit: "1" }, as: key });
};

const swap = async (privacyWalletId: string): Promise<void> => {
  const body = { chainId, fromToken: "USDC", toToken: "DAI", amount: "30" };
  const { quoteId } = await call("quotePrivateSwap", { body, as: person });
  await call("requestOtp", { body: { quoteId }, as: person, recorded: false });
  const otp = await api.readCode(email);
  await call("preparePrivateSwap", { body: { quoteId, otp, privacyWalletId }, as: person });
  await call("executePrivateSwap", { body: { quoteId }, as: person });
};

const exit = async (privacyWalletId: string): Promise<void> => {
  await money.deposit(privacyWalletId, "USDC", "9", "declined");
  const { data } = await call("listPrivateExits", { query: { privacyWalletId }, as: key });
  const [note] = data as { noteId: string }[];
  await call("startPrivateExit", {
    body: { chainId, noteId: note?.noteId, privacyWalletId },
    as: person,
  });
};

beforeAll(async () => {
  const privacyWalletId = await newWallet("100", "60", "50");
  await exportWallet(privacyWalletId);
  await moves(privacyWalletId);
  await swap(privacyWalletId);
  await exit(privacyWalletId);
  await call("listPrivacyWallets", { as: key });
  await call("getPrivateBalances", { query: { privacyWalletId }, as: key });
});

test("every private answer fits its schema, and has no field that the schema does not know", async () => {
  const fresh = examples();
  if (inject("recordsExamples"))
    await writeExamples("lib/contracts/examples/private.json", fresh);
  expect(await lintOpenApi(openApiDocument(namedContracts, { ...EXAMPLES, ...fresh }))).toEqual(
    [],
  );
});

test.runIf(!inject("recordsExamples"))(
  "the committed examples are of the operations that were called",
  () => {
    expect(operationsOf(recorded)).toEqual(operationsOf(examples()));
  },
);
