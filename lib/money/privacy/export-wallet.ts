/**
 * Shows the mnemonic of a private wallet: to one person when no rule limits the project's money,
 * and after votes when rules demand them.
 */
import { createHash } from "node:crypto";
import type { UserActor } from "@/lib/core/actor";
import { addSeconds, type Clock } from "@/lib/core/clock";
import { requirePermission } from "@/lib/core/permissions";
import type { Queryable, Tx } from "@/lib/platform/db/client";
import { sqlOf, type SqlReader } from "@/lib/platform/db/sql";
import {
  type ApprovalsService,
  type Change,
  type GivenApproval,
  quoted,
} from "@/lib/trust/proofs/service";
import { doneBy, recordAudit } from "@/lib/news/audit/service";
import type {
  Decided,
  DecisionRequest,
  DecisionsService,
  DecisionSubject,
} from "@/lib/trust/decisions/service";
import {
  suffices,
  votesOf,
  type Bounds,
  type RequiredApproval,
} from "@/lib/trust/policies/service";
import type { ProjectsService } from "@/lib/trust/projects/service";
import { exportedMeanwhile, keyIsBounded, waitsForVotes } from "./errors";
import type { PrivateWallet } from "./rows";
import type { PrivacyWalletRepository } from "./wallet-repository";
import type { PrivateWallets } from "./private-wallets";
import { APPROVAL_SECONDS } from "./context";

export interface ExportWalletDeps {
  readonly wallets: PrivacyWalletRepository;
  readonly privateWallets: PrivateWallets;
  readonly approvals: Pick<ApprovalsService, "requireApproval">;
  readonly decisions: Pick<DecisionsService, "open" | "latestAbout" | "settle">;
  /** The limits of the rules in force, of every scope. */
  readonly boundsOf: (projectId: string, sql?: SqlReader) => Promise<Bounds>;
  readonly projects: Pick<ProjectsService, "tellOwners" | "tellPerson">;
  readonly people: {
    /** Null until an address is verified. */
    verifiedEmail(userId: string, db?: Queryable): Promise<string | null>;
  };
  readonly publicUrl: string;
  readonly clock: Clock;
}

export type Export =
  | { readonly state: "shown"; readonly mnemonic: string }
  | { readonly state: "waits"; readonly decisionId: string; readonly expiresAt: Date };

export const EXPORT_SUBJECT = "privacy_wallet";

/** Seconds after the deciding vote within which the requester can see the mnemonic once. */
const SHOW_SECONDS = 3600;

const subjectOf = ({ id }: Pick<PrivateWallet, "id">) => ({ type: EXPORT_SUBJECT, id });

/**
 * SHA-256 of the wallet and the person. The votes approve this digest, so they allow only this
 * person to see the mnemonic of only this wallet.
 */
const digestFor = (
  { projectId, userId }: UserActor,
  { id }: PrivateWallet,
): Uint8Array<ArrayBuffer> =>
  new Uint8Array(
    createHash("sha256")
      .update(JSON.stringify(["privacy_wallet.export", projectId, id, userId]))
      .digest(),
  );

const titleOf = ({ name }: PrivateWallet): string =>
  `Show the mnemonic of the private wallet ${quoted(name)}`;

const linesOf = ({ name, id }: PrivateWallet): string[] => [
  `Private wallet: ${quoted(name)} (${id})`,
  "Whoever sees the mnemonic can move the wallet's money past every rule, also without this service, for ever.",
];

/**
 * The change that the person approves: to request votes (`ask`) or to see the mnemonic (`show`).
 * @param votedBy the approved request for votes; null when the person's own approval suffices
 */
const changeOf = (
  wallet: PrivateWallet,
  step: "ask" | "show",
  votedBy: DecisionRequest | null,
): Change => ({
  kind: "privacy_wallet.export",
  title:
    step === "ask"
      ? "Ask for votes on showing the mnemonic of a private wallet, with which anybody can move its money"
      : "Show the mnemonic of a private wallet, with which anybody can move its money",
  lines: [`Private wallet: ${quoted(wallet.name)} (${wallet.id})`],
  values: { walletId: wallet.id, step, decisionId: votedBy?.id ?? null },
});

const noticeOf = (
  { projectId, userId }: UserActor,
  wallet: PrivateWallet,
  isShown: boolean,
) => ({
  projectId,
  subject: isShown
    ? `The mnemonic of the private wallet ${quoted(wallet.name)} was shown`
    : `Somebody asks for the mnemonic of the private wallet ${quoted(wallet.name)}`,
  text: [
    isShown
      ? `The mnemonic of the private wallet ${quoted(wallet.name)} (${wallet.id}) was shown to ${userId}.`
      : `${userId} asked for the mnemonic of the private wallet ${quoted(wallet.name)} (${wallet.id}). People of the project vote on it in the inbox.`,
    "Whoever has it can move the wallet's money, now and later, without this service.",
    ...(isShown
      ? ["The wallet is marked as exported for ever: use another one for new money."]
      : []),
    "",
    isShown
      ? "If this was not meant, move the wallet's money to the treasury at once (page Private, Unshield)."
      : "If this is not meant, decline it in the inbox.",
  ].join("\n"),
});

/** The mail to the requester once the votes suffice. */
const approvedNotice = (
  { title, subject, decidedAt }: Pick<DecisionRequest, "title" | "subject" | "decidedAt">,
  { publicUrl, now }: { readonly publicUrl: string; readonly now: Date },
): { readonly subject: string; readonly text: string } => ({
  subject: "The export that you asked for was approved",
  text: [
    "The votes that this needs were given:",
    "",
    `- ${title} (${subject.id})`,
    "",
    `Only you can see the mnemonic, once, until ${addSeconds(decidedAt ?? now, SHOW_SECONDS).toISOString()}. Export the wallet again, and approve that yourself: ${publicUrl}/private`,
    "After that, votes are asked for anew. Nothing was shown yet.",
  ].join("\n"),
});

/**
 * Mails the requester that the export was approved. The mail is stored only once, even if the
 * decision's job runs again after a crash.
 */
const tellAsker = async (
  deps: ExportWalletDeps,
  { outcome, request }: Decided,
): Promise<void> => {
  if (outcome !== "approved") return;
  await deps.wallets.transaction(async (tx) => {
    if (!(await deps.decisions.settle(tx, request))) return;
    const { makerUserId: userId } = request;
    const to = await deps.people.verifiedEmail(userId, tx);
    if (to === null) return;
    const { publicUrl, clock } = deps;
    await deps.projects.tellPerson(tx, {
      userId,
      to,
      ...approvedNotice(request, { publicUrl, now: clock.now() }),
    });
  });
};

/**
 * Fails when rules limit the project's money, because they would not limit a person with the
 * mnemonic. Returns the votes that showing the mnemonic needs; null when none are needed.
 * @throws DomainError `policy_violation` that names the rules; also when no role may vote
 */
const requireUnbounded = async (
  { boundsOf }: Pick<ExportWalletDeps, "boundsOf">,
  projectId: string,
  sql?: SqlReader,
): Promise<RequiredApproval | null> => {
  const bounds = await boundsOf(projectId, sql);
  if (bounds.rules.length > 0) throw keyIsBounded(bounds.rules);
  return votesOf(bounds);
};

/** Whether the votes on the request allow this person to see the mnemonic now. */
const lets = (
  request: DecisionRequest,
  {
    actor,
    wallet,
    votes,
    now,
  }: { actor: UserActor; wallet: PrivateWallet; votes: RequiredApproval; now: Date },
): boolean =>
  request.state === "approved" &&
  request.decidedAt !== null &&
  addSeconds(request.decidedAt, SHOW_SECONDS) > now &&
  request.id !== wallet.exportDecisionId &&
  Buffer.from(request.digest).equals(digestFor(actor, wallet)) &&
  suffices(request.required, votes);

/**
 * The approved request that allows the person to see the mnemonic; null when votes have to be
 * requested first.
 * @throws DomainError `invalid_state` while a request is open
 */
const votedFor = async (
  { decisions, clock }: ExportWalletDeps,
  at: {
    readonly actor: UserActor;
    readonly wallet: PrivateWallet;
    readonly votes: RequiredApproval;
  },
): Promise<DecisionRequest | null> => {
  const { projectId } = at.actor;
  const now = clock.now();
  const latest = await decisions.latestAbout({ projectId, subject: subjectOf(at.wallet) });
  if (latest === null) return null;
  if (latest.state === "open" && latest.expiresAt > now) throw waitsForVotes(latest.id);
  return lets(latest, { ...at, now }) ? latest : null;
};

interface Given {
  readonly wallet: PrivateWallet;
  readonly approved: Awaited<ReturnType<ExportWalletDeps["approvals"]["requireApproval"]>>;
}

const ask = (
  deps: ExportWalletDeps,
  actor: UserActor,
  { wallet, approved }: Given,
): Promise<Export> =>
  deps.wallets.transaction(async (tx) => {
    const now = deps.clock.now();
    const { projectId } = actor;
    await approved.consume(tx);
    const required = await requireUnbounded(deps, projectId, sqlOf(tx));
    if (required === null) throw exportedMeanwhile();
    const expiresAt = addSeconds(now, APPROVAL_SECONDS);
    const decisionId = await deps.decisions.open(tx, {
      projectId,
      subject: subjectOf(wallet),
      digest: digestFor(actor, wallet),
      title: titleOf(wallet),
      lines: linesOf(wallet),
      maker: actor,
      required,
      expiresAt,
      private: true,
    });
    const entry = {
      ...doneBy(actor),
      action: "privacy_wallet.export_requested",
      subject: wallet.id,
      at: now,
    };
    await recordAudit(tx, { ...entry, data: { decisionId, ...approved.record } });
    await deps.projects.tellOwners(tx, noticeOf(actor, wallet, false));
    return { state: "waits", decisionId, expiresAt };
  });

/** Marks the wallet as exported and stores the audit row before the mnemonic is shown. */
const show = async (
  deps: ExportWalletDeps,
  actor: UserActor,
  { wallet, approved, votedBy }: Given & { readonly votedBy: DecisionRequest | null },
): Promise<Export> => {
  const markExported = async (tx: Tx): Promise<void> => {
    const now = deps.clock.now();
    await approved.consume(tx);
    // Checked again in the transaction, because rules may have changed since.
    const votes = await requireUnbounded(deps, actor.projectId, sqlOf(tx));
    if (votes !== null && (votedBy === null || !suffices(votedBy.required, votes)))
      throw exportedMeanwhile();
    const decisionId = votedBy?.id ?? null;
    if (!(await deps.wallets.markExported(tx, wallet, { decisionId, at: now })))
      throw exportedMeanwhile();
    const entry = {
      ...doneBy(actor),
      action: "privacy_wallet.exported",
      subject: wallet.id,
      at: now,
    };
    await recordAudit(tx, { ...entry, data: { ...approved.record, decisionId } });
    await deps.projects.tellOwners(tx, noticeOf(actor, wallet, true));
  };
  await deps.wallets.transaction(markExported);
  return { state: "shown", mnemonic: deps.privateWallets.keyOf(wallet).mnemonic };
};

export const createExportWallet = (deps: ExportWalletDeps) => ({
  /**
   * Shows a private wallet's mnemonic, once for each approval. Whoever has the mnemonic can move
   * the wallet's money past every rule, so the call fails while a rule of any scope limits
   * recipients or amounts. When rules demand votes, the export needs the votes for the largest
   * amount: the first call opens a request for votes, and a later call shows the mnemonic to the
   * requester.
   * @throws DomainError `forbidden`, `policy_violation`, `invalid_state` while a request waits for
   * votes, `unknown_privacy_wallet`, and the errors of the approval
   */
  run: async (
    actor: UserActor,
    walletId: string,
    approval: GivenApproval | undefined,
  ): Promise<Export> => {
    requirePermission(actor, "private-keys:export");
    const wallet = await deps.privateWallets.find(actor.projectId, walletId, "id");
    const votes = await requireUnbounded(deps, actor.projectId);
    const votedBy = votes === null ? null : await votedFor(deps, { actor, wallet, votes });
    const isAsked = votes !== null && votedBy === null;
    const change = changeOf(wallet, isAsked ? "ask" : "show", votedBy);
    const approved = await deps.approvals.requireApproval(actor, change, approval);
    return isAsked
      ? ask(deps, actor, { wallet, approved })
      : show(deps, actor, { wallet, approved, votedBy });
  },

  /**
   * The votes do not show the mnemonic to anybody. They only lead to a mail to the requester, who
   * then sees the mnemonic with another call.
   */
  subject: {
    check: async ({ projectId }) => void (await requireUnbounded(deps, projectId)),
    onDecided: (decided) => tellAsker(deps, decided),
  } satisfies DecisionSubject,
});
