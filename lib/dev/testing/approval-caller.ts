import { expect } from "vitest";
import type { TestApi, TestSession } from "./api";
import type { testAccount } from "./factories";

export const KEYS = "/auth/api-keys";
export const EXEMPT = { name: "Shop", otp: "exempt", dailyCapUsd: "500" };

type Body = Record<string, unknown> & { code?: string; approvalId?: string; message?: string };
export interface Answer {
  readonly status: number;
  readonly body: Body;
  readonly replayed: boolean;
}

/** Returns functions that call routes as a signed-in person. `extra` are headers of every call. */
export const callerOf = (
  api: TestApi,
  session: TestSession,
  extra: Readonly<Record<string, string>> = {},
) => {
  const call = async (
    method: string,
    path: string,
    body?: object,
    headers = {},
  ): Promise<Answer> => {
    const response = await api.fetch(path, {
      method,
      headers: {
        authorization: `Bearer ${session.accessToken}`,
        "content-type": "application/json",
        ...extra,
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const replayed = response.headers.get("idempotent-replayed") === "true";
    return { status: response.status, body: (await response.json()) as Body, replayed };
  };
  return {
    call,
    session,
    post: (path: string, body: object, headers = {}) => call("POST", path, body, headers),
    patch: (path: string, body: object) => call("PATCH", path, body),
    keys: async () =>
      (await call("GET", KEYS)).body.data as {
        id: string;
        otp: string;
        dailyCapUsd: string | null;
      }[],
  };
};
export type Caller = ReturnType<typeof callerOf>;

type Signer = Pick<ReturnType<typeof testAccount>, "signMessage">;
/**
 * Signs the message of a required approval. Returns the field `approval` with which the change is
 * sent again.
 */
export const signed = async (
  asked: { approvalId: string; message: string },
  signer: Signer,
) => ({
  approval: {
    approvalId: asked.approvalId,
    signature: await signer.signMessage({ message: asked.message }),
  },
});

/** Returns functions for the steps of a change that needs an approval. */
export const approvalSteps = (api: TestApi) => {
  const newPerson = async (): Promise<Caller> => callerOf(api, await api.signIn());

  const ask = async (
    who: Caller,
    body: object = EXEMPT,
  ): Promise<{ approvalId: string; message: string }> => {
    const answer = await who.post(KEYS, body);
    expect(answer).toMatchObject({ status: 409, body: { code: "approval_required" } });
    expect(answer.body.approvalId).toMatch(/^apr_[0-9a-f-]{36}$/);
    return { approvalId: answer.body.approvalId ?? "", message: answer.body.message ?? "" };
  };

  const mailedCode = async (
    who: Caller,
    email: string,
    approvalId: string,
  ): Promise<string> => {
    const seen =
      (await api.services.inbox?.list({ to: email, limit: 100 }))?.flatMap(
        ({ code }) => code ?? [],
      ) ?? [];
    expect(await who.post("/swap/request-otp", { approvalId })).toMatchObject({ status: 200 });
    return api.readCode(email, seen);
  };

  const auditOf = async (subject: string, action: string) => {
    const rows = await api.services.database.prisma.auditEvent.findMany({
      where: { subject, action },
      orderBy: { id: "asc" },
    });
    return rows.map(({ actor, data }) => ({ actor, data }));
  };

  const madeKey = async (who: Caller, body: object = EXEMPT): Promise<string> => {
    const first = await who.post(KEYS, body);
    if (first.status === 201) return `${KEYS}/${String(first.body.id)}`;
    const asked = {
      approvalId: String(first.body.approvalId),
      message: String(first.body.message),
    };
    const made = await who.post(KEYS, {
      ...body,
      ...(await signed(asked, who.session.account)),
    });
    return `${KEYS}/${String(made.body.id)}`;
  };

  return { newPerson, ask, mailedCode, auditOf, madeKey };
};
