import { getContractAddress, zeroAddress } from "viem";
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts";
import { createSiweMessage } from "viem/siwe";
import { createLocalSigner } from "@/lib/adapters/local-signer/signer";
import type { RequestContext, UserActor } from "@/lib/core/actor";
import { isDomainError } from "@/lib/core/errors";
import { addSeconds, type Clock } from "@/lib/core/clock";
import type { Database } from "@/lib/platform/db/client";
import { createApprovalsService, type GivenApproval } from "@/lib/trust/proofs/approvals";
import { createApiKeysService } from "@/lib/trust/api-keys/service";
import { createPeople } from "@/lib/trust/auth/people";
import {
  type AuthDeps,
  type AuthService,
  createAuthService,
  endSession,
  type SignedIn,
} from "@/lib/trust/auth/service";
import { createCodeLimits } from "@/lib/trust/proofs/code-limits";
import { createEnvelopes, createKeyring } from "@/lib/platform/encryption/service";
import { createMailOutbox } from "@/lib/news/mail/service";
import { createPasskeyProofs } from "@/lib/trust/proofs/passkeys";
import { createSecondFactors } from "@/lib/trust/proofs/second-factors";
import { createFactorsService } from "@/lib/trust/proofs/factors";
import { relyingPartyOf } from "@/lib/trust/proofs/webauthn";
import { createOpenInvitations } from "@/lib/trust/members/invitations";
import { createOtpRepository } from "@/lib/trust/proofs/codes-repository";
import { createOtpService } from "@/lib/trust/proofs/codes";
import { createProjectPolicies } from "@/lib/trust/policies/project-policy";
import { createPoliciesService } from "@/lib/trust/policies/service";
import { createProjectsService } from "@/lib/trust/projects/service";
import { createSessionMadeService } from "@/lib/trust/session-made/service";
import { createSecrets } from "@/lib/platform/encryption/application-secret";
import { createManagedKeyRepository } from "@/lib/trust/wallets/repository";
import { createWalletsService, type SmartAccounts } from "@/lib/trust/wallets/service";
import type { Mail, Mailer } from "@/lib/platform/ports/mail";

export const TEST_PUBLIC_URL = "http://localhost:3000";
export const TEST_CHAIN_ID = 31337;
export const TEST_APP_SECRET = "dev_0123456789abcdef0123456789abcdef";
export const TEST_KEY_ENCRYPTION_KEY = Buffer.alloc(32, 3);

/** A clock that only the test moves, for both wall time and the age of caches. */
export const movableClock = (start = new Date("2026-01-01T00:00:00Z")) => {
  let now = start;
  const clock: Clock = { now: () => now };
  return {
    clock,
    monotonicMs: () => now.getTime(),
    advance: (seconds: number) => {
      now = addSeconds(now, seconds);
    },
  };
};

/** A chain that answers, and on which no contract has signed anything. */
const answeringChain: AuthDeps["registry"] = {
  list: () => [{ id: TEST_CHAIN_ID }, { id: TEST_CHAIN_ID + 1 }],
  client: () => ({
    call: () => Promise.resolve({ data: "0x00" }),
    getChainId: () => Promise.resolve(TEST_CHAIN_ID),
  }),
};

/** Counterfactual addresses without a chain. Any function of the owner suffices for sign-ins. */
const offlineAccounts: SmartAccounts = {
  addressOf: ({ ownerAddress }) =>
    Promise.resolve(getContractAddress({ from: ownerAddress, nonce: 0n })),
  originOf: () => Promise.resolve({ factory: zeroAddress, salt: "0" }),
  isDeployed: (_chainId, addresses) =>
    Promise.resolve(new Map(addresses.map((address) => [address, false] as const))),
};

export interface AuthServicesOptions {
  readonly database: Database;
  readonly time?: ReturnType<typeof movableClock>;
  readonly registry?: AuthDeps["registry"];
  readonly smartAccounts?: SmartAccounts;
  readonly mail?: Mailer;
  readonly appSecret?: string;
  readonly appSecretPrevious?: string;
  readonly keyEncryptionKey?: Buffer;
  readonly keyEncryptionKeysPrevious?: readonly Buffer[];
  readonly publicUrl?: string;
  readonly signUp?: AuthDeps["signUp"];
}

type Account = Pick<PrivateKeyAccount, "address" | "signMessage">;
const newAccount = (): PrivateKeyAccount => privateKeyToAccount(generatePrivateKey());

/** A fake in which no project demands votes. */
const decisions = { requirementOf: () => Promise.resolve(null) };

/**
 * Signs the approval that the service requires.
 * @throws `error` itself when the service requires no approval
 */
const signApproval = async (
  signer: Pick<Account, "signMessage">,
  error: unknown,
): Promise<GivenApproval> => {
  if (!isDomainError(error) || error.code !== "approval_required") throw error;
  const signature = await signer.signMessage({ message: error.message });
  return { approvalId: String(error.extra.approvalId), signature };
};

/**
 * Makes a change that needs an approval: the first call must require one, and the second has the
 * wallet's signature.
 */
export const withSignature = async <T>(
  signer: Pick<Account, "signMessage">,
  change: (approval?: GivenApproval) => Promise<T>,
): Promise<T> => {
  const error: unknown = await change().then(
    () => new Error("No approval was asked for."),
    (refused: unknown) => refused,
  );
  return change(await signApproval(signer, error));
};

const createMailCode =
  (auth: AuthService) =>
  async (actor: UserActor, email: string, signer: Pick<Account, "signMessage">) => {
    try {
      return await auth.setEmail(actor, email);
    } catch (error) {
      return auth.setEmail(actor, email, await signApproval(signer, error));
    }
  };

const SILENT = { warn: () => undefined };

interface Origin {
  readonly userAgent?: string;
  readonly clientAddress?: string | null;
}

const requestFrom = ({ userAgent, clientAddress = null }: Origin): RequestContext => ({
  ...{ requestId: "req_test", clientAddress, clientNetwork: clientAddress },
  ...(userAgent === undefined ? {} : { userAgent }),
});

/**
 * The services around sign-in on a real database. When a test creates them twice on one database,
 * it has two instances of the service.
 */
export const createAuthServices = (options: AuthServicesOptions) => {
  const { database, registry = answeringChain, smartAccounts = offlineAccounts } = options;
  const { keyEncryptionKey = TEST_KEY_ENCRYPTION_KEY, publicUrl = TEST_PUBLIC_URL } = options;
  const { clock, monotonicMs } = options.time ?? movableClock();
  const keyring = createKeyring([
    keyEncryptionKey,
    ...(options.keyEncryptionKeysPrevious ?? []),
  ]);
  const secrets = createSecrets(
    options.appSecret ?? TEST_APP_SECRET,
    options.appSecretPrevious,
  );
  const mails: Mail[] = [];
  const outbox: Mailer = {
    id: "outbox",
    send: (mail) => Promise.resolve(void mails.push(mail)),
  };
  const store = createManagedKeyRepository(database);
  const signer = createLocalSigner({ store, envelopes: createEnvelopes(keyring), clock });
  const wallets = createWalletsService({ database, signer, registry, smartAccounts, clock });
  const mail = options.mail ?? outbox;
  const codeLimits = createCodeLimits({ limitNetworks: true });
  const mailOutbox = createMailOutbox({
    database,
    mailer: mail,
    limits: codeLimits,
    clock,
    log: SILENT,
  });
  const projects = createProjectsService({ database, clock, outbox: mailOutbox, monotonicMs });
  const people = createPeople({ database });
  const passkeys = createPasskeyProofs({ database, party: relyingPartyOf(publicUrl), clock });
  const otp = createOtpService({
    repository: createOtpRepository(database, codeLimits),
    mailer: mail,
    clock,
    secrets,
    contacts: people,
    secondFactors: createSecondFactors({ database, keyring, codeLimits, passkeys, clock }),
  });
  const approvals = createApprovalsService({
    database,
    otp,
    people,
    projects,
    registry,
    publicUrl,
    clock,
  });
  const policies = createPoliciesService({ database });
  const base = {
    database,
    secrets,
    keyring,
    publicUrl,
    registry,
    clock,
    monotonicMs,
    approvals,
    projects,
  };
  const shared = { ...base, sessionMade: createSessionMadeService({ ...base, endSession }) };
  const recipients = { require: () => undefined };
  const apiKeys = createApiKeysService({
    ...shared,
    policies,
    recipients,
    people,
    kind: "test",
  });
  const projectPolicies = createProjectPolicies({
    database,
    clock,
    approvals,
    decisions,
    policies,
    projects,
  });
  const factors = createFactorsService({ ...shared, codeLimits, people });
  const entry = {
    signUp: options.signUp ?? { mode: "open" as const },
    invitations: createOpenInvitations({ clock }),
  };
  const auth = createAuthService({ ...shared, ...entry, wallets, mail, passkeys, codeLimits });

  const messageFor = async (
    account: Pick<Account, "address">,
    changes: Partial<Parameters<typeof createSiweMessage>[0]> = {},
  ): Promise<string> => {
    const { nonce, domain, uri, statement } = await auth.createNonce();
    const { address } = account;
    const fields = {
      address,
      chainId: TEST_CHAIN_ID,
      domain,
      nonce,
      uri,
      statement,
      version: "1",
    } as const;
    return createSiweMessage({ ...fields, issuedAt: clock.now(), ...changes });
  };
  const signIn = async (
    account: Account = newAccount(),
    kind: "api" | "browser" = "api",
    { invitation, ...from }: Origin & { readonly invitation?: string } = {},
  ): Promise<SignedIn> => {
    const message = await messageFor(account);
    const [signature, request] = [await account.signMessage({ message }), requestFrom(from)];
    return auth.signIn({ message, signature, kind, invitation, request });
  };
  const actorOf = async ({ userId, sessionId }: SignedIn): Promise<UserActor> => {
    const { projectId, role } = await projects.resolve(userId, null);
    return { type: "user", userId, sessionId, projectId, role };
  };
  return {
    /** Requests a code for the address, and signs the approval if one is required. */
    mailCode: createMailCode(auth),
    auth,
    people,
    otp,
    factors,
    approvals,
    apiKeys,
    policies,
    projectPolicies,
    mailOutbox,
    /** Waiting outbox mail for this address, oldest first. */
    waitingMail: (to: string) =>
      database.prisma.mailOutbox.findMany({ where: { to }, orderBy: { id: "asc" } }),
    projects,
    wallets,
    signer,
    secrets,
    mails,
    newAccount,
    messageFor,
    signIn,
    actorOf,
  };
};
