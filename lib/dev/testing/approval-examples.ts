import type { TestApi, TestSession } from "./api";
import type { exampleRecorder } from "./example-recorder";
import { actorOf } from "./voters";

interface Examples {
  readonly api: TestApi;
  readonly session: TestSession;
  /** The mailbox of the session's person. */
  readonly email: string;
  readonly call: ReturnType<typeof exampleRecorder>["call"];
  readonly as: Readonly<Record<string, string>>;
}

/**
 * Calls each route of requests for approval once: one request is approved with a code, another is
 * declined with a signature.
 */
export const callApprovals = async ({
  api,
  session,
  email,
  call,
  as,
}: Examples): Promise<void> => {
  const { projectId } = await call("whoAmI", { as, recorded: false });
  const { decisions, database } = api.services;
  const open = (subjectId: string): Promise<string> =>
    database.transaction((tx) =>
      decisions.open(tx, {
        projectId: String(projectId),
        subject: { type: "payout", id: subjectId },
        digest: new Uint8Array(32),
        title: "Pay 250 USDC in 2 payments",
        lines: ["You pay: 250 USDC in 2 payments from ga_01980000-0000-7000-8000-000000000000"],
        maker: actorOf(
          "usr_01980000-0000-7000-8000-000000000000",
          String(projectId),
          "operator",
        ),
        required: { count: 1, roles: ["owner", "admin"], excludeMaker: true },
        expiresAt: new Date(Date.now() + 24 * 3_600_000),
      }),
    );
  const id = await open("po_01980000-0000-7000-8000-000000000000");
  await call("readProjectInbox", { as });
  await call("listDecisions", { query: { state: "open" }, as });
  const seen = ((await api.services.inbox?.list({ to: email, limit: 100 })) ?? []).flatMap(
    ({ code }) => code ?? [],
  );
  await call("requestDecisionCode", { params: { id }, as });
  const otp = await api.readCode(email, seen);
  await call("approveDecision", {
    params: { id },
    body: { otp, reason: "Checked with the invoice" },
    as,
  });
  const ids = [
    await open("po_01980000-0000-7000-8000-000000000002"),
    await open("po_01980000-0000-7000-8000-000000000003"),
  ];
  const asked = await call("requestDecisionsCode", { body: { ids, channel: "wallet" }, as });
  await call("approveDecisions", {
    body: {
      ids,
      signature: await session.account.signMessage({ message: String(asked.message) }),
    },
    as,
  });
  const other = await open("po_01980000-0000-7000-8000-000000000001");
  const { messages } = await call("getDecision", { params: { id: other }, as });
  const { decline } = messages as { decline: string };
  const signature = await session.account.signMessage({ message: decline });
  await call("declineDecision", {
    params: { id: other },
    body: { signature, reason: "Paid already" },
    as,
  });
};
