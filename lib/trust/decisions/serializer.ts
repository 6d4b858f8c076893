import type {
  approveDecisions,
  decisionRecord,
  listDecisions,
  requestDecisionsCode,
} from "@/lib/contracts/decisions";
import type { ResponseOf } from "@/lib/contracts/contract";
import type { z } from "zod";
import { toOtpSent } from "@/lib/trust/proofs/service";
import type { DecisionView, SetVote } from "./service";
import type { AskedSet } from "./vote-set";

export const toDecision = ({
  request,
  names,
  approvals,
  mayDecide,
  messages,
}: DecisionView): z.output<typeof decisionRecord> => ({
  id: request.id,
  subject: request.subject,
  title: request.title,
  lines: [...request.lines],
  state: request.state,
  requestedBy: request.maker,
  requestedByName: names.get(request.maker) ?? null,
  required: {
    count: request.required.count,
    roles: [...request.required.roles],
    excludeMaker: request.required.excludeMaker,
  },
  demandedBy: [...(request.required.demandedBy ?? [])],
  votes: request.votes.map(({ userId, decision, reason, createdAt }) => ({
    userId,
    name: names.get(userId) ?? null,
    decision,
    reason,
    createdAt: createdAt.toISOString(),
  })),
  approvals,
  mayDecide,
  messages,
  createdAt: request.createdAt.toISOString(),
  expiresAt: request.expiresAt.toISOString(),
  decidedAt: request.decidedAt?.toISOString() ?? null,
});

export const toDecisions = ({
  data,
  nextCursor,
}: {
  readonly data: readonly DecisionView[];
  readonly nextCursor: string | null;
}): ResponseOf<typeof listDecisions> => ({ data: data.map(toDecision), nextCursor });

export const toAskedSet = ({
  setId,
  message,
  sent,
}: AskedSet): ResponseOf<typeof requestDecisionsCode> => ({
  setId,
  message,
  sent: sent === null ? null : toOtpSent(sent),
});

export const toSetVotes = (votes: readonly SetVote[]): ResponseOf<typeof approveDecisions> => ({
  data: votes.map(({ view, refusal }) => ({
    decision: toDecision(view),
    refusal: refusal === null ? null : { code: refusal.code, message: refusal.message },
  })),
});
