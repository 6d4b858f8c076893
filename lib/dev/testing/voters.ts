import { getMe } from "@/lib/contracts/auth";
import {
  approveDecision,
  declineDecision,
  getDecision,
  listDecisions,
  requestDecisionCode,
} from "@/lib/contracts/decisions";
import { updatePolicies } from "@/lib/contracts/policies";
import { ApiError, type ApiClient } from "@/lib/api-client/client";
import type { BodyInput, ResponseOf } from "@/lib/contracts/contract";
import type { Role, UserActor } from "@/lib/core/actor";
import type { TestApi, TestSession } from "./api";

/** A person who works in a project that another person created. */
export interface TestMember {
  readonly session: TestSession;
  readonly userId: string;
  readonly email: string;
  readonly role: Role;
  /** Client for calls in that project. */
  readonly client: ApiClient;
  readonly actor: UserActor;
}

type Decision = ResponseOf<typeof getDecision>;

export const actorOf = (userId: string, projectId: string, role: Role): UserActor => ({
  type: "user",
  userId,
  sessionId: "ses_test",
  projectId,
  role,
});

/** A new person with a verified address who is a member of the project, without an invitation. */
export const newMember = async (
  api: TestApi,
  projectId: string,
  role: Role,
): Promise<TestMember> => {
  const session = await api.signIn();
  const email = await api.verifiedEmail(session);
  const { id: userId } = await session.client.call(getMe);
  const { database, projects } = api.services;
  await database.prisma.membership.create({
    data: { projectId, userId, role, createdAt: new Date() },
  });
  projects.forget(userId);
  const client = api.client({
    authorization: `Bearer ${session.accessToken}`,
    "x-project-id": projectId,
  });
  return { session, userId, email, role, client, actor: actorOf(userId, projectId, role) };
};

/** Gives the member another role, or none. */
export const setMemberRole = async (
  { services }: TestApi,
  { projectId, userId }: UserActor,
  role: Role | null,
): Promise<void> => {
  const where = { projectId_userId: { projectId, userId } };
  const { membership } = services.database.prisma;
  await (role === null
    ? membership.delete({ where })
    : membership.update({ where, data: { role } }));
  services.projects.forget(userId);
};

/** Votes with the wallet's signature. */
export const vote = async (
  { client, session }: Pick<TestMember, "client" | "session">,
  id: string,
  decision: "approve" | "decline" = "approve",
): Promise<Decision> => {
  const { messages } = await client.call(getDecision, { params: { id } });
  const signature = await session.account.signMessage({
    message: messages?.[decision] ?? "nothing to sign",
  });
  const contract = decision === "approve" ? approveDecision : declineDecision;
  return client.call(contract, { params: { id }, body: { signature } });
};

/** Votes to approve with a mailed code. */
export const voteWithCode = async (
  api: TestApi,
  { client, email }: TestMember,
  id: string,
): Promise<Decision> => {
  const mails = await api.services.inbox?.list({ to: email, limit: 100 });
  const seen = (mails ?? []).flatMap(({ code }) => code ?? []);
  await client.call(requestDecisionCode, { params: { id } });
  return client.call(approveDecision, {
    params: { id },
    body: { otp: await api.readCode(email, seen) },
  });
};

/** The error of a call that must fail. */
export const refusalOf = async (work: Promise<unknown>): Promise<ApiError> => {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof ApiError) return error;
  throw new Error("The call was not refused.", { cause: error });
};

/** Makes the project demand votes for waiting objects. */
export const demandVotes = async (
  client: ApiClient,
  approvals: BodyInput<typeof updatePolicies>["approvals"],
): Promise<void> => {
  await client.call(updatePolicies, { body: { approvals } });
};

/** The newest request about the object. */
export const requestAbout = async (client: ApiClient, subjectId: string): Promise<Decision> => {
  const [request] = (await client.call(listDecisions, { query: { subjectId } })).data;
  if (request === undefined) throw new Error(`Nobody was asked about ${subjectId}.`);
  return request;
};
