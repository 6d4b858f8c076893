import { createHash } from "node:crypto";
import type { Role } from "@/lib/core/actor";
import { newId } from "@/lib/core/ids";
import { passkeyDevice } from "./passkey-device";
import {
  approvalAsked,
  call,
  expecting,
  keyOf,
  ONE,
  theApi,
  type AttackTable,
} from "./token-attacks";
import { actorOf } from "./voters";

/** A token that nobody has received. */
const TOKEN = "A".repeat(43);

const idOfMe = async (): Promise<string> => String((await call("GET", "/me")).body.id);

const projectOfMe = async (): Promise<string> => {
  const { projects } = (await call("GET", "/me")).body as { projects: { id: string }[] };
  return projects[0]?.id ?? "";
};

/** Adds a member to the project directly in the database. */
const member = async (role: Role): Promise<string> => {
  const { accessToken } = await theApi().signIn();
  const userId = String((await call("GET", "/me", undefined, accessToken)).body.id);
  const projectId = await projectOfMe();
  const { prisma } = theApi().services.database;
  await prisma.membership.create({ data: { projectId, userId, role, createdAt: new Date() } });
  return userId;
};

let asked = 0;

/** A request that the person with the token may decide, because a key without an owner made it. */
export const openRequest = async (): Promise<string> => {
  asked += 1;
  const projectId = await projectOfMe();
  const { decisions, database } = theApi().services;
  const about = {
    projectId,
    subject: { type: "test", id: String(asked) },
    digest: new Uint8Array(32),
    title: "Pay",
    lines: [],
  };
  const required = { count: 1, roles: ["owner"], excludeMaker: true } as const;
  const maker = actorOf("usr_nobody", projectId, "operator");
  const expiresAt = new Date(Date.now() + 3_600_000);
  return database.transaction((tx) =>
    decisions.open(tx, { ...about, maker, required, expiresAt }),
  );
};

/** Adds an invitation to the project directly in the database. */
export const invitationOf = async (): Promise<string> => {
  const [id, now] = [newId("invitation"), new Date()];
  const of = {
    projectId: await projectOfMe(),
    email: "a@example.test",
    role: "viewer",
    invitedBy: await idOfMe(),
  };
  const tokenHash = new Uint8Array(createHash("sha256").update(id).digest());
  await theApi().services.database.prisma.invitation.create({
    data: { id, ...of, tokenHash, createdAt: now, expiresAt: now },
  });
  return id;
};

/** Adds a chat channel to the project directly in the database; its address cannot be decrypted. */
export const channelOf = async (): Promise<string> => {
  const [id, createdAt] = [newId("notificationChannel"), new Date()];
  const address = {
    shownAddress: "127.0.0.1:9999/…hook",
    encrypted: new Uint8Array(1),
    kekId: "none",
  };
  const settings = {
    service: "slack",
    name: "Ops",
    kinds: ["gas_low"],
    includeAmounts: false,
    status: "active",
  };
  await theApi().services.database.prisma.notificationChannel.create({
    data: {
      id,
      projectId: await projectOfMe(),
      ...settings,
      ...address,
      createdBy: await idOfMe(),
      createdAt,
      updatedAt: createdAt,
    },
  });
  return id;
};

const CHANNEL = {
  service: "slack",
  name: "Ops",
  address: "http://127.0.0.1:9999/hook",
  kinds: ["approval_waiting"],
};

/** Keys of a browser, from the example of RFC 8291. */
const P256DH =
  "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
const AUTH = "BTBZMqHH6r4Tts7J_aSIgg";

/** Adds a browser with push messages to the person directly in the database. */
export const browserOf = async (): Promise<string> => {
  const id = newId("pushSubscription");
  const userId = await idOfMe();
  const sessionId = await otherSession();
  const { prisma } = theApi().services.database;
  await prisma.pushSubscription.create({
    data: {
      id,
      userId,
      sessionId,
      endpoint: `http://127.0.0.1:9999/${id}`,
      p256dh: P256DH,
      auth: AUTH,
      createdAt: new Date(),
    },
  });
  return id;
};

/** Adds a session of the same person directly in the database. */
const otherSession = async (): Promise<string> => {
  const id = newId("session");
  const createdAt = new Date();
  const expiresAt = new Date(createdAt.getTime() + 60_000);
  const session = { id, userId: await idOfMe(), kind: "api", createdAt, expiresAt };
  await theApi().services.database.prisma.session.create({ data: session });
  return id;
};

/** Adds a passkey of the same person directly in the database. */
export const passkeyOf = async (): Promise<string> => {
  const id = newId("passkey");
  const key = {
    id,
    userId: await idOfMe(),
    credentialId: id,
    publicKey: new Uint8Array(1),
    counter: 0n,
  };
  const { prisma } = theApi().services.database;
  await prisma.passkey.create({
    data: { ...key, transports: [], synced: false, name: "Key", createdAt: new Date() },
  });
  return id;
};

/**
 * Rows of the table in authority-table.int.test.ts: projects, members, invitations, requests that
 * wait for votes, and a person's own sessions.
 */
export const PEOPLE_ROWS: AttackTable = {
  "POST /notifications/read": [
    "moves nothing",
    () => expecting(call("POST", "/notifications/read", { ids: [newId("notification")] }), 200),
  ],
  "PUT /me/notification-preferences": [
    "moves nothing",
    () =>
      expecting(
        call("PUT", "/me/notification-preferences", { kinds: [], largeDepositUsd: "10000" }),
        200,
      ),
  ],
  // Messages have titles that the token may read anyway, and end with its session.
  "POST /me/push-subscriptions": [
    "moves nothing",
    () =>
      expecting(
        call("POST", "/me/push-subscriptions", {
          endpoint: "http://127.0.0.1:9999/push",
          keys: { p256dh: P256DH, auth: AUTH },
        }),
        201,
      ),
  ],
  "DELETE /me/push-subscriptions/{id}": [
    "narrows",
    async () => expecting(call("DELETE", `/me/push-subscriptions/${await browserOf()}`), 200),
  ],
  "POST /notifications/channels": [
    "needs approval",
    () => approvalAsked(call("POST", "/notifications/channels", CHANNEL)),
  ],
  "PATCH /notifications/channels/{id}": [
    "needs approval",
    async () => {
      const path = `/notifications/channels/${await channelOf()}`;
      await expecting(call("PATCH", path, { status: "paused" }), 200);
      await approvalAsked(call("PATCH", path, { includeAmounts: true }));
      return approvalAsked(call("PATCH", path, { address: CHANNEL.address }));
    },
  ],
  "DELETE /notifications/channels/{id}": [
    "narrows",
    async () => expecting(call("DELETE", `/notifications/channels/${await channelOf()}`), 200),
  ],
  // A test goes to the address that a person approved, and there is none here.
  "POST /notifications/channels/{id}/test": [
    "moves nothing",
    () => {
      const id = newId("notificationChannel");
      return expecting(call("POST", `/notifications/channels/${id}/test`), 404);
    },
  ],
  "PATCH /sponsor-budgets": [
    "needs approval",
    async () => {
      await expecting(
        call("PATCH", "/sponsor-budgets", { chainId: ONE, dailyLimit: "100" }),
        200,
      );
      return approvalAsked(
        call("PATCH", "/sponsor-budgets", { chainId: ONE, dailyLimit: null }),
      );
    },
  ],
  "POST /projects": [
    "moves nothing",
    () => expecting(call("POST", "/projects", { name: "Second" }), 201),
  ],
  "PATCH /projects/{id}": [
    "moves nothing",
    async () =>
      expecting(call("PATCH", `/projects/${await projectOfMe()}`, { name: "Renamed" }), 200),
  ],
  "PATCH /members/{id}": [
    "needs approval",
    async () =>
      approvalAsked(call("PATCH", `/members/${await member("viewer")}`, { role: "operator" })),
  ],
  "POST /members/{id}/removal": [
    "needs approval",
    async () => {
      await expecting(call("POST", `/members/${await member("viewer")}/removal`, {}), 200);
      await approvalAsked(
        call("PATCH", `/members/${await member("admin")}`, { role: "viewer" }),
      );
      return approvalAsked(call("POST", `/members/${await member("admin")}/removal`, {}));
    },
  ],
  "POST /approvals/request-otp": [
    "moves nothing",
    async () =>
      expecting(call("POST", "/approvals/request-otp", { ids: [await openRequest()] }), 200),
  ],
  "POST /approvals/approve": [
    "needs code",
    async () =>
      expecting(
        call("POST", "/approvals/approve", { ids: [await openRequest()], otp: "000000" }),
        409,
        { code: "otp_required" },
      ),
  ],
  "POST /approvals/{id}/request-otp": [
    "moves nothing",
    async () => expecting(call("POST", `/approvals/${await openRequest()}/request-otp`), 200),
  ],
  "POST /approvals/{id}/approve": [
    "needs code",
    async () =>
      expecting(
        call("POST", `/approvals/${await openRequest()}/approve`, { otp: "000000" }),
        409,
        {
          code: "otp_required",
        },
      ),
  ],
  "POST /approvals/{id}/decline": [
    "needs code",
    async () =>
      expecting(
        call("POST", `/approvals/${await openRequest()}/decline`, { otp: "000000" }),
        409,
        {
          code: "otp_required",
        },
      ),
  ],
  "POST /invitations": [
    "needs approval",
    () =>
      approvalAsked(call("POST", "/invitations", { email: "eve@example.test", role: "owner" })),
  ],
  "DELETE /invitations/{id}": [
    "narrows",
    async () =>
      expecting(call("DELETE", `/invitations/${await invitationOf()}`), 200, {
        status: "withdrawn",
      }),
  ],
  "POST /invitations/lookup": [
    "moves nothing",
    () => expecting(call("POST", "/invitations/lookup", { token: TOKEN }), 404),
  ],
  // Only the invited mailbox receives the token, and the person must also have verified its
  // address.
  "POST /invitations/accept": [
    "needs code",
    () => expecting(call("POST", "/invitations/accept", { token: TOKEN }), 404),
  ],
  "DELETE /me/sessions/{id}": [
    "narrows",
    async () => expecting(call("DELETE", `/me/sessions/${await otherSession()}`), 200),
  ],
  "DELETE /me/sessions": [
    "narrows",
    async () => {
      await otherSession();
      return expecting(call("DELETE", "/me/sessions"), 200);
    },
  ],
  "POST /me/sessions/made/restore": [
    "needs approval",
    async () =>
      approvalAsked(
        call("POST", "/me/sessions/made/restore", {
          items: [{ kind: "api_key", id: await keyOf() }],
        }),
      ),
  ],
  "POST /me/factors/totp": [
    "needs approval",
    () => approvalAsked(call("POST", "/me/factors/totp", {})),
  ],
  // The secret of a pending app is only in the answer to the approved request.
  "POST /me/factors/totp/confirm": [
    "needs code",
    () =>
      expecting(call("POST", "/me/factors/totp/confirm", { code: "000000" }), 409, {
        code: "invalid_state",
      }),
  ],
  "POST /me/factors/totp/remove": [
    "needs approval",
    async () => {
      const app = {
        userId: await idOfMe(),
        id: newId("totpFactor"),
        kekId: "none",
        secretEncrypted: new Uint8Array(1),
      };
      const now = new Date();
      const { prisma } = theApi().services.database;
      await prisma.totpFactor.create({
        data: { ...app, createdAt: now, confirmedAt: now, lastStep: 0 },
      });
      return approvalAsked(call("POST", "/me/factors/totp/remove", {}));
    },
  ],
  "POST /me/factors/recovery-codes": [
    "needs approval",
    () => approvalAsked(call("POST", "/me/factors/recovery-codes", {})),
  ],
  "POST /me/passkeys/options": [
    "needs approval",
    () => approvalAsked(call("POST", "/me/passkeys/options", { name: "Eve" })),
  ],
  // The challenge of approved options is only in their answer.
  "POST /me/passkeys": [
    "needs code",
    () => {
      const credential = passkeyDevice().create("AAAA");
      return expecting(call("POST", "/me/passkeys", { credential }), 409, {
        code: "invalid_state",
      });
    },
  ],
  "PATCH /me/passkeys/{id}": [
    "moves nothing",
    async () =>
      expecting(call("PATCH", `/me/passkeys/${await passkeyOf()}`, { name: "Renamed" }), 200),
  ],
  "POST /me/passkeys/{id}/remove": [
    "needs approval",
    async () => approvalAsked(call("POST", `/me/passkeys/${await passkeyOf()}/remove`, {})),
  ],
};
