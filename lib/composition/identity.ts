import { createActorNames } from "@/lib/news/audit/service";
import { createInboxMailer } from "@/lib/adapters/inbox/mailer";
import { createSmtpMailer } from "@/lib/adapters/smtp/mailer";
import { createApprovalsService } from "@/lib/trust/proofs/approvals";
import { createCodeLimits } from "@/lib/trust/proofs/code-limits";
import { createDecisionRunner } from "@/lib/trust/decisions/runner";
import { createDecisionsService, type DecisionSubject } from "@/lib/trust/decisions/service";
import { createVotingPolicy } from "@/lib/trust/decisions/voting-policy";
import { createContactDigest, createContactsService } from "@/lib/books/contacts/service";
import { createApiKeysService, type ApiKeysService } from "@/lib/trust/api-keys/service";
import { createApiRequests } from "@/lib/money/api-requests/service";
import { createPeople } from "@/lib/trust/auth/people";
import { createAuthService, endSession } from "@/lib/trust/auth/service";
import { createPasskeyProofs } from "@/lib/trust/proofs/passkeys";
import { createSecondFactors } from "@/lib/trust/proofs/second-factors";
import { createFactorsService } from "@/lib/trust/proofs/factors";
import { relyingPartyOf } from "@/lib/trust/proofs/webauthn";
import { createInboxService, createMailOutbox } from "@/lib/news/mail/service";
import { createInboxRepository } from "@/lib/news/mail/repository";
import {
  createApprovalMailChoice,
  createNotificationsService,
} from "@/lib/money/notifications/service";
import { createOtpRepository } from "@/lib/trust/proofs/codes-repository";
import { createOtpService } from "@/lib/trust/proofs/codes";
import { createProjectPolicies } from "@/lib/trust/policies/project-policy";
import { createPoliciesService } from "@/lib/trust/policies/service";
import { createProjectsService } from "@/lib/trust/projects/service";
import { createSessionMadeService } from "@/lib/trust/session-made/service";
import { schedulesOfMembers } from "@/lib/money/payouts/service";
import { endpointsOfMembers } from "@/lib/money/webhooks/service";
import { createMembersService } from "@/lib/trust/members/service";
import { createOpenInvitations } from "@/lib/trust/members/invitations";
import { createNewProjects } from "@/lib/trust/members/new-projects";
import { createWalletLinks } from "@/lib/trust/wallets/links";
import { unlinked } from "@/lib/core/unlinked";
import type { Mailer } from "@/lib/platform/ports/mail";
import type { Platform } from "./platform";
import type { CheckedAccess } from "./routing";

export const buildIdentity = (
  platform: Platform,
  { wallets, recipients }: Pick<CheckedAccess, "wallets" | "recipients">,
  subjects: () => Readonly<Record<string, DecisionSubject>>,
) => {
  const { config, database, registry, secrets, keyring, clock, errorLog } = platform;
  const { publicUrl } = config;
  const mail = buildMail(platform);
  const { inbox, closeMail } = mail;
  const mailer = withoutLinks(mail.mailer, publicUrl);
  const codeLimits = createCodeLimits({ limitNetworks: config.rateLimitPerIp > 0 });
  const mailOutbox = createMailOutbox({
    database,
    mailer,
    limits: codeLimits,
    clock,
    log: errorLog,
  });
  const projects = createProjectsService({ database, clock, outbox: mailOutbox });
  const people = createPeople({ database });
  const otpRepository = createOtpRepository(database, codeLimits);
  const passkeys = createPasskeyProofs({ database, party: relyingPartyOf(publicUrl), clock });
  const secondFactors = createSecondFactors({ database, keyring, codeLimits, passkeys, clock });
  const mailed = { repository: otpRepository, mailer, contacts: people };
  const otp = createOtpService({ ...mailed, secondFactors, clock, secrets });
  const approvals = createApprovalsService({
    database,
    otp,
    people,
    projects,
    registry,
    publicUrl,
    clock,
  });
  const made = { database, secrets, approvals, projects, endSession, publicUrl, clock };
  const sessionMade = createSessionMadeService(made);
  const auth = createAuthService({
    sessionMade,
    database,
    secrets,
    keyring,
    publicUrl,
    registry,
    projects,
    wallets,
    mail: mailer,
    approvals,
    signUp: config.signUp,
    passkeys,
    codeLimits,
    invitations: createOpenInvitations({ clock }),
    clock,
  });
  const actorNames = createActorNames({ database });
  const deciding = {
    database,
    otp,
    approvals,
    people,
    subjects,
    actorNames,
    publicUrl,
    clock,
    outbox: mailOutbox,
  };
  const policies = createPoliciesService({ database });
  const decisions = createDecisionsService(deciding);
  const authority = { database, approvals, decisions, policies, projects, clock };
  const kind = config.chains.some((chain) => !chain.testnet)
    ? ("live" as const)
    : ("test" as const);
  const apiKeys = createApiKeysService({
    ...authority,
    sessionMade,
    recipients,
    secrets,
    people,
    publicUrl,
    kind,
  });
  return {
    mailer,
    inbox,
    closeMail,
    mailOutbox,
    projects,
    people,
    actorNames,
    otp,
    approvals,
    decisions,
    votingPolicy: createVotingPolicy(authority),
    decisionRunner: createDecisionRunner({
      ...deciding,
      wantMail: createApprovalMailChoice({ database }),
    }),
    notifications: createNotificationsService({ database, people, clock }),
    factors: createFactorsService({
      database,
      keyring,
      approvals,
      codeLimits,
      people,
      projects,
      publicUrl,
      clock,
    }),
    auth,
    sessionMade,
    walletLinks: createWalletLinks({ database, registry, publicUrl, profiles: auth, clock }),
    contacts: createContactsService({
      database,
      approvals,
      wallets,
      registry,
      recipients,
      clock,
    }),
    contactDigest: createContactDigest({ database, projects, publicUrl, clock }),
    policies,
    projectPolicies: createProjectPolicies(authority),
    apiKeys,
    apiRequests: buildApiRequests(platform, apiKeys),
    members: createMembersService({
      ...authority,
      apiKeys,
      endpoints: endpointsOfMembers,
      schedules: schedulesOfMembers,
      people,
      limits: codeLimits,
      outbox: mailOutbox,
      publicUrl,
    }),
    newProjects: createNewProjects({ database, projects, wallets }),
  };
};

const buildApiRequests = ({ database, errorLog }: Platform, apiKeys: ApiKeysService) =>
  createApiRequests({
    database,
    apiKeys,
    onLost: ({ requests, error }) =>
      errorLog.warn(
        { requests, ...(error === undefined ? {} : { err: error }) },
        error === undefined
          ? "requests of API keys were not logged: too many waited"
          : "requests of API keys wait for their log: the database did not take them",
      ),
  });

export type Identity = ReturnType<typeof buildIdentity>;

/**
 * Makes all links in mails unusable except links to this service, because users choose names and
 * other texts.
 */
const withoutLinks = (mailer: Mailer, publicUrl: string): Mailer => ({
  ...mailer,
  send: (mail) => mailer.send({ ...mail, text: unlinked(mail.text, publicUrl) }),
});

const buildMail = ({ config, overrides, database, clock }: Platform) => {
  const nothingOpen = (): void => undefined;
  if (overrides.mailer)
    return { mailer: overrides.mailer, inbox: null, closeMail: nothingOpen };
  if (config.smtpUrl !== null) {
    const mailer = createSmtpMailer({ url: config.smtpUrl, from: config.mailFrom });
    return { mailer, inbox: null, closeMail: () => mailer.close() };
  }
  // Production without SMTP_URL does not start (lib/platform/config/env.ts), so this is
  // development.
  const repository = createInboxRepository(database, clock);
  return {
    mailer: createInboxMailer({ store: repository }),
    inbox: createInboxService(repository),
    closeMail: nothingOpen,
  };
};
