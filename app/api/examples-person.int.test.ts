/**
 * Calls every operation on a person's own sessions, factors and notifications once over real HTTP;
 * see examples.int.test.ts.
 */
import { beforeAll, expect, inject, test } from "vitest";
import { createApiKey } from "@/lib/contracts/api-keys";
import { namedContracts } from "@/lib/contracts/all";
import recorded from "@/lib/contracts/examples/person.json";
import { newId } from "@/lib/core/ids";
import { openApiDocument } from "@/lib/http/openapi";
import { EXAMPLES } from "@/lib/http/openapi-errors";
import { testApi, type TestSession } from "@/lib/dev/testing/api";
import { webhookReceiver } from "@/lib/dev/testing/webhook-receiver";
import {
  exampleRecorder,
  operationsOf,
  writeExamples,
  type Body,
} from "@/lib/dev/testing/example-recorder";
import { serveApi } from "@/lib/dev/testing/http";
import { passkeyDevice } from "@/lib/dev/testing/passkey-device";
import { fromBase32 } from "@/lib/dev/testing/totp-app";
import { stepAt, totpCode } from "@/lib/trust/proofs/totp";
import { forgetIn } from "@/lib/dev/testing/lost-answers";
import { lintOpenApi } from "@/lib/dev/testing/lint-openapi";
import { testKey } from "@/lib/dev/testing/factories";

const api = await testApi();
const { call, examples } = exampleRecorder(
  await serveApi(api.services),
  forgetIn(api.services.database),
);
const privateKey = testKey();
const session = await api.signIn(privateKey);
const email = await api.verifiedEmail(session);
const person = { authorization: `Bearer ${session.accessToken}` };

const sessions = async (): Promise<void> => {
  const thief = await api.signIn(privateKey);
  const { data } = (await call("listSessions", { as: person })) as {
    data: { id: string; current: boolean }[];
  };
  const other = data.find(({ current }) => !current)?.id ?? "";
  await keyOf(thief);
  await call("revokeSession", { params: { id: other }, as: person });
  const key = await keyOf(await api.signIn(privateKey));
  await call("listMadeThings", { as: person });
  await call("revokeOtherSessions", { as: person });
  await approved("restoreMadeThings", { items: [{ kind: "api_key", id: key }] });
  await keyOf(await api.signIn(privateKey));
  const body = { token: await mailedToken() };
  await call("lookUpNotMe", { body });
  await call("confirmNotMe", { body });
};

/** The token of the newest mailed link "This was not me". */
const mailedToken = async (): Promise<string> => {
  const { text } = await api.services.database.prisma.mailOutbox.findFirstOrThrow({
    where: { to: email },
    orderBy: { id: "desc" },
  });
  return /\/not-me#(\S+)$/m.exec(text)?.[1] ?? "";
};

const keyOf = async ({ client }: TestSession): Promise<string> => {
  const { id } = await client.call(createApiKey, { body: { name: "CI" } });
  return id;
};

/**
 * Sends a request without its approval, and again with the wallet's signature over what the 409
 * says.
 */
const approved = async (
  operationId: string,
  body: object = {},
  params: Readonly<Record<string, string>> = {},
): Promise<Body> => {
  const asked = await call(operationId, { body, params, as: person, recorded: false });
  const signature = await session.account.signMessage({ message: String(asked.message) });
  const approval = { approvalId: asked.approvalId, signature };
  return call(operationId, { body: { ...body, approval }, params, as: person });
};

const authenticator = async (): Promise<void> => {
  const { secret } = await approved("startTotp");
  const code = totpCode(fromBase32(String(secret)), stepAt(api.services.clock.now()));
  await call("confirmTotp", { body: { code }, as: person });
  await approved("renewRecoveryCodes");
  await call("getFactors", { as: person });
  await approved("removeTotp");
};

const notifications = async (): Promise<void> => {
  const { userId } = await api.services.auth.verifyAccessToken(session.accessToken);
  const { projectId } = await api.services.projects.resolve(userId, null);
  const { database } = api.services;
  const news = {
    ...{
      projectId,
      userId,
      kind: "operation_failed",
      source: newId("event"),
      inApp: true,
      mail: "none",
    },
    ...{
      title: "Swap failed",
      detail: "The pool moved. The money is back in the treasury.",
      path: "/activity",
    },
    ...{
      id: newId("notification"),
      objectId: newId("operation"),
      createdAt: api.services.clock.now(),
    },
  };
  await database.prisma.notification.create({ data: news });
  await call("listNotifications", { as: person });
  await call("readNotifications", { body: { ids: [news.id] }, as: person });
  await call("getNotificationPreferences", { as: person });
  const kinds = [{ kind: "operation_failed", inApp: true, mail: "at_once" }];
  await call("putNotificationPreferences", {
    body: { kinds, largeDepositUsd: "25000" },
    as: person,
  });
};

const channels = async (): Promise<void> => {
  const { url } = await webhookReceiver();
  const made = await approved("createNotificationChannel", {
    service: "slack",
    name: "Treasury room",
    address: url,
    kinds: ["approval_waiting", "operation_failed"],
    includeAmounts: false,
  });
  const params = { id: String(made.id) };
  await call("testNotificationChannel", { params, as: person });
  await call("updateNotificationChannel", { params, body: { status: "paused" }, as: person });
  await call("listNotificationChannels", { as: person });
  await call("deleteNotificationChannel", { params, as: person });
};

const push = async (): Promise<void> => {
  const keys = {
    p256dh:
      "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    auth: "BTBZMqHH6r4Tts7J_aSIgg",
  };
  const body = { endpoint: "http://127.0.0.1:9999/send", keys };
  const made = await call("createPushSubscription", { body, as: person });
  await call("listPushSubscriptions", { as: person });
  await call("deletePushSubscription", { params: { id: String(made.id) }, as: person });
};

const passkeys = async (): Promise<void> => {
  const device = passkeyDevice();
  const { options } = (await approved("startPasskey", { name: "Laptop" })) as {
    options: { challenge: string };
  };
  const made = await call("addPasskey", {
    body: { credential: device.create(options.challenge) },
    as: person,
  });
  const signIn = (await call("startPasskeySignIn")) as { options: { challenge: string } };
  await call("signInByPasskey", { body: { credential: device.get(signIn.options.challenge) } });
  await call("listPasskeys", { as: person });
  const params = { id: String(made.id) };
  await call("renamePasskey", { params, body: { name: "Key ring" }, as: person });
  await approved("removePasskey", {}, params);
};

beforeAll(async () => {
  await sessions();
  await authenticator();
  await passkeys();
  await notifications();
  await channels();
  await push();
});

test("every answer fits its schema, and has no field that the schema does not know", async () => {
  const fresh = examples();
  if (inject("recordsExamples"))
    await writeExamples("lib/contracts/examples/person.json", fresh);
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
