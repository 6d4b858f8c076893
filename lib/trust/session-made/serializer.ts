import type { ResponseOf } from "@/lib/contracts/contract";
import type { confirmNotMe, lookUpNotMe } from "@/lib/contracts/not-me";
import type {
  listMadeThings,
  revokeOtherSessions,
  revokeSession,
} from "@/lib/contracts/sessions";
import { deviceOf } from "@/lib/core/device";
import type { MadeThing } from "./rows";
import type { DisownedView } from "./service";

type MadeThingRecord = ResponseOf<typeof listMadeThings>["data"][number];
type NamedThing = ResponseOf<typeof confirmNotMe>["suspended"][number];

export const toMadeThing = (thing: MadeThing): MadeThingRecord => ({
  kind: thing.kind,
  id: thing.id,
  name: thing.name,
  projectId: thing.projectId,
  projectName: thing.projectName,
  sessionId: thing.sessionId,
  device: deviceOf(thing.userAgent),
  madeAt: thing.madeAt.toISOString(),
  suspendedAt: thing.suspendedAt?.toISOString() ?? null,
});

/** The fields for holders of a mailed link, who are not signed in. */
export const toNamedThing = ({ kind, name, projectName }: MadeThing): NamedThing => ({
  kind,
  name,
  projectName,
});

const stateOf = ({ state }: DisownedView): ResponseOf<typeof lookUpNotMe>["state"] => {
  if (state === null) return "ended";
  if (state.isProven) return "proven";
  return state.suspendedAt === null ? "works" : "suspended";
};

export const toNotMe = (view: DisownedView, now: Date): ResponseOf<typeof lookUpNotMe> => {
  const { thing, state, maker, others } = view;
  return {
    kind: thing.kind,
    id: thing.id,
    name: state?.name ?? null,
    state: stateOf(view),
    madeAt: state?.madeAt.toISOString() ?? null,
    madeBy: maker.address,
    device: deviceOf(maker.userAgent),
    address: maker.clientAddress,
    signedInAt: maker.createdAt.toISOString(),
    sessionEnded: maker.revokedAt !== null || maker.expiresAt <= now,
    others: others.map(toNamedThing),
  };
};

export const toRevokedSession = (revoked: {
  readonly id: string;
  readonly revokedAt: Date;
  readonly suspended: readonly MadeThing[];
}): ResponseOf<typeof revokeSession> => ({
  id: revoked.id,
  revokedAt: revoked.revokedAt.toISOString(),
  suspended: revoked.suspended.map(toMadeThing),
});

export const toRevokedSessions = (revoked: {
  readonly ended: number;
  readonly suspended: readonly MadeThing[];
}): ResponseOf<typeof revokeOtherSessions> => ({
  revoked: revoked.ended,
  suspended: revoked.suspended.map(toMadeThing),
});
