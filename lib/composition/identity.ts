import { createInboxMailer } from "@/lib/adapters/inbox/mailer";
import { createSmtpMailer } from "@/lib/adapters/smtp/mailer";
import { createApprovalsService } from "@/lib/modules/approvals/service";
import { createCodeLimits } from "@/lib/modules/code-limits/service";
import { createDecisionRunner } from "@/lib/modules/decisions/runner";
import { createDecisionsService, type DecisionSubject } from "@/lib/modules/decisions/service";
import { createVotingPolicy } from "@/lib/modules/decisions/voting-policy";
import { createContactsService } from "@/lib/modules/contacts/service";
import { createApiKeysService } from "@/lib/modules/api-keys/service";
import { createApiRequests } from "@/lib/modules/api-requests/service";
import { createPeople } from "@/lib/modules/auth/people";
import { createAuthService } from "@/lib/modules/auth/service";
import { createPasskeyProofs } from "@/lib/modules/factors/passkey-proofs";
import { createSecondFactors } from "@/lib/modules/factors/proofs";
import { createFactorsService } from "@/lib/modules/factors/service";
import { relyingPartyOf } from "@/lib/modules/factors/webauthn";
import { createMailOutbox } from "@/lib/modules/mail/outbox";
import { createInboxRepository } from "@/lib/modules/mail/repository";
import { createInboxService } from "@/lib/modules/mail/service";
import { createApprovalMailChoice, createNotificationsService } from "@/lib/modules/notifications/service";
import { createOtpRepository } from "@/lib/modules/otp/repository";
import { createOtpService } from "@/lib/modules/otp/service";
import { createProjectPolicies } from "@/lib/modules/policies/project-policy";
import { createPoliciesService } from "@/lib/modules/policies/service";
import { createProjectsService } from "@/lib/modules/projects/service";
import { createMembersService } from "@/lib/modules/members/service";
import { createOpenInvitations } from "@/lib/modules/members/open-invitation";
import { createNewProjects } from "@/lib/modules/members/new-projects";
import { createWalletLinks } from "@/lib/modules/wallets/links";
import type { Platform } from "./platform";
import type { ChainAccess } from "./chain-access";

/** People, projects and keys, their authentication and their permissions. */
export const buildIdentity = (
  platform: Platform,
  { wallets }: Pick<ChainAccess, "wallets">,
  subjects: () => Readonly<Record<string, DecisionSubject>>,
) => {
  const { config, database, registry, secrets, keyring, clock, errorLog } = platform;
  const { publicUrl } = config;
  const { mailer, inbox, closeMail } = buildMail(platform);
  const mailOutbox = createMailOutbox({ database, mailer, clock, log: errorLog });
  const projects = createProjectsService({ database, clock, outbox: mailOutbox });
  const people = createPeople({ database });
  const codeLimits = createCodeLimits({ limitNetworks: config.rateLimitPerIp > 0 });
  const otpRepository = createOtpRepository(database, codeLimits);
  const passkeys = createPasskeyProofs({ database, party: relyingPartyOf(publicUrl), clock });
  const secondFactors = createSecondFactors({ database, keyring, codeLimits, passkeys, clock });
  const mailed = { repository: otpRepository, mailer, contacts: people };
  const otp = createOtpService({ ...mailed, secondFactors, clock, secrets });
  const approvals = createApprovalsService({ database, otp, people, projects, registry, publicUrl, clock });
  const auth = createAuthService({
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
  const deciding = { database, otp, approvals, people, subjects, publicUrl, clock, outbox: mailOutbox };
  const policies = createPoliciesService({ database });
  const decisions = createDecisionsService(deciding);
  const authority = { database, approvals, decisions, policies, projects, clock };
  const kind = config.chains.some((chain) => !chain.testnet) ? ("live" as const) : ("test" as const);
  const apiKeys = createApiKeysService({ ...authority, secrets, people, publicUrl, kind });
  return {
    mailer,
    inbox,
    closeMail,
    mailOutbox,
    projects,
    otp,
    approvals,
    decisions,
    votingPolicy: createVotingPolicy(authority),
    decisionRunner: createDecisionRunner({ ...deciding, wantMail: createApprovalMailChoice({ database }) }),
    notifications: createNotificationsService({ database, people, clock }),
    factors: createFactorsService({ database, keyring, approvals, codeLimits, people, projects, publicUrl, clock }),
    auth,
    walletLinks: createWalletLinks({ database, registry, publicUrl, profiles: auth, clock }),
    contacts: createContactsService({
      database,
      approvals,
      requireChain: (chainId) => void registry.get(chainId),
      clock,
    }),
    policies,
    projectPolicies: createProjectPolicies(authority),
    apiKeys,
    apiRequests: createApiRequests({
      database,
      apiKeys,
      onLost: ({ requests, error }) =>
        errorLog.warn(
          { requests, ...(error === undefined ? {} : { err: error }) },
          error === undefined
            ? "requests of API keys were not logged: too many waited"
            : "requests of API keys wait for their log: the database did not take them",
        ),
    }),
    members: createMembersService({ ...authority, apiKeys, people, outbox: mailOutbox, publicUrl }),
    newProjects: createNewProjects({ database, projects, wallets }),
  };
};

export type Identity = ReturnType<typeof buildIdentity>;

/** SMTP where it is configured, else the development inbox. */
const buildMail = ({ config, overrides, database, clock }: Platform) => {
  const nothingOpen = (): void => undefined;
  if (overrides.mailer) return { mailer: overrides.mailer, inbox: null, closeMail: nothingOpen };
  if (config.smtpUrl !== null) {
    const mailer = createSmtpMailer({ url: config.smtpUrl, from: config.mailFrom });
    return { mailer, inbox: null, closeMail: () => mailer.close() };
  }
  // Production without SMTP_URL does not start (lib/config/env.ts), so this is development.
  const repository = createInboxRepository(database, clock);
  return {
    mailer: createInboxMailer({ store: repository }),
    inbox: createInboxService(repository),
    closeMail: nothingOpen,
  };
};
