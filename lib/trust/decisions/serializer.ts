import type { decisionRecord, listDecisions } from "@/lib/contracts/decisions";
import type { ResponseOf } from "@/lib/contracts/contract";
import type { z } from "zod";
import type { DecisionView } from "./service";

export const toDecision = ({
  request,
  mayDecide,
  messages,
}: DecisionView): z.output<typeof decisionRecord> => ({
  id: request.id,
  subject: request.subject,
  title: request.title,
  lines: [...request.lines],
  state: request.state,
  requestedBy: request.maker,
  required: {
    count: request.required.count,
    roles: [...request.required.roles],
    excludeMaker: request.required.excludeMaker,
  },
  demandedBy: [...(request.required.demandedBy ?? [])],
  votes: request.votes.map(({ userId, decision, reason, createdAt }) => ({
    userId,
    decision,
    reason,
    createdAt: createdAt.toISOString(),
  })),
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
