import { getContractAddress, zeroAddress } from "viem";
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts";
import { createSiweMessage } from "viem/siwe";
import { createLocalSigner } from "@/lib/adapters/local-signer/signer";
import type { UserActor } from "@/lib/core/actor";
import { addSeconds, type Clock } from "@/lib/core/clock";
import type { RequestContext } from "@/lib/core/request-context";
import type { Database } from "@/lib/db/client";
import { createApprovalsService } from "@/lib/modules/approvals/service";
import { createApiKeysService } from "@/lib/modules/api-keys/service";
import { createPeople } from "@/lib/modules/auth/people";
import { createAuthService, type AuthDeps, type SignedIn } from "@/lib/modules/auth/service";
import { createCodeLimits } from "@/lib/modules/code-limits/service";
import { createEnvelopes, createKeyring } from "@/lib/modules/encryption/service";
import { createMailOutbox } from "@/lib/modules/mail/outbox";
import { createPasskeyProofs } from "@/lib/modules/factors/passkey-proofs";
import { createSecondFactors } from "@/lib/modules/factors/proofs";
import { createFactorsService } from "@/lib/modules/factors/service";
import { relyingPartyOf } from "@/lib/modules/factors/webauthn";
import { createOpenInvitations } from "@/lib/modules/members/open-invitation";
import { createOtpRepository } from "@/lib/modules/otp/repository";
import { createOtpService } from "@/lib/modules/otp/service";
import { createProjectPolicies } from "@/lib/modules/policies/project-policy";
import { createPoliciesService } from "@/lib/modules/policies/service";
import { createProjectsService } from "@/lib/modules/projects/service";
import { createSecrets } from "@/lib/modules/encryption/application-secret";
import { createManagedKeyRepository } from "@/lib/modules/wallets/managed-key-repository";
import { createWalletsService, type SmartAccounts } from "@/lib/modules/wallets/service";
import type { Mail, Mailer } from "@/lib/ports/mail";

export const TEST_PUBLIC_URL = "http://localhost:3000";
export const TEST_CHAIN_ID = 31337;
export const TEST_APP_SECRET = "dev_0123456789abcdef0123456789abcdef";
export const TEST_KEY_ENCRYPTION_KEY = Buffer.alloc(32, 3);

/** A clock that only the test moves, for wall time and for the age of caches alike. */
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

/** A chain that answers and on which no contract has signed anything. */
const answeringChain: AuthDeps["registry"] = {
  list: () => [{ id: TEST_CHAIN_ID }, { id: TEST_CHAIN_ID + 1 }],
  client: () => ({ call: () => Promise.resolve({ data: "0x00" }), getChainId: () => Promise.resolve(TEST_CHAIN_ID) }),
};

/** Counterfactual addresses without a chain: any function of the owner does for who signs in. */
const offlineAccounts: SmartAccounts = {
  addressOf: ({ ownerAddress }) => Promise.resolve(getContractAddress({ from: ownerAddress, nonce: 0n })),
  originOf: () => Promise.resolve({ factory: zeroAddress, salt: "0" }),
  isDeployed: (_chainId, addresses) => Promise.resolve(new Map(addresses.map((address) => [address, false] as const))),
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

/** No project demands votes. */
const decisions = { requirementOf: () => Promise.resolve(null) };

interface Origin {
  readonly userAgent?: string;
  readonly clientAddress?: string | null;
}

const requestFrom = ({ userAgent, clientAddress = null }: Origin): RequestContext => ({
  ...{ requestId: "req_test", clientAddress, clientNetwork: clientAddress },
  ...(userAgent === undefined ? {} : { userAgent }),
});

/** The services around sign-in on a real database. Two of them on one database are two instances of the service. */
export const createAuthServices = (options: AuthServicesOptions) => {
  const { database, registry = answeringChain, smartAccounts = offlineAccounts } = options;
  const { keyEncryptionKey = TEST_KEY_ENCRYPTION_KEY, publicUrl = TEST_PUBLIC_URL } = options;
  const { clock, monotonicMs } = options.time ?? movableClock();
  const keyring = createKeyring([keyEncryptionKey, ...(options.keyEncryptionKeysPrevious ?? [])]);
  const secrets = createSecrets(options.appSecret ?? TEST_APP_SECRET, options.appSecretPrevious);
  const mails: Mail[] = [];
  const outbox: Mailer = { id: "outbox", send: (mail) => Promise.resolve(void mails.push(mail)) };
  const signer = createLocalSigner({
    store: createManagedKeyRepository(database),
    envelopes: createEnvelopes(keyring),
    clock,
  });
  const wallets = createWalletsService({ database, signer, registry, smartAccounts, clock });
  const mail = options.mail ?? outbox;
  const mailOutbox = createMailOutbox({ database, mailer: mail, clock, log: { warn: () => undefined } });
  const projects = createProjectsService({ database, clock, outbox: mailOutbox, monotonicMs });
  const people = createPeople({ database });
  const codeLimits = createCodeLimits({ limitNetworks: true });
  const passkeys = createPasskeyProofs({ database, party: relyingPartyOf(publicUrl), clock });
  const otp = createOtpService({
    repository: createOtpRepository(database, codeLimits),
    mailer: mail,
    clock,
    secrets,
    contacts: people,
    secondFactors: createSecondFactors({ database, keyring, codeLimits, passkeys, clock }),
  });
  const approvals = createApprovalsService({ database, otp, people, projects, registry, publicUrl, clock });
  const policies = createPoliciesService({ database });
  const shared = { database, secrets, keyring, publicUrl, registry, clock, monotonicMs, approvals, projects };
  const apiKeys = createApiKeysService({ ...shared, policies, people, kind: "test" });
  const projectPolicies = createProjectPolicies({ database, clock, approvals, decisions, policies, projects });
  const factors = createFactorsService({ ...shared, codeLimits, people });
  const entry = { signUp: options.signUp ?? { mode: "open" as const }, invitations: createOpenInvitations({ clock }) };
  const auth = createAuthService({ ...shared, ...entry, wallets, mail, passkeys, codeLimits });

  const messageFor = async (
    account: Pick<Account, "address">,
    changes: Partial<Parameters<typeof createSiweMessage>[0]> = {},
  ): Promise<string> => {
    const { nonce, domain, uri, statement } = await auth.createNonce();
    const { address } = account;
    const fields = { address, chainId: TEST_CHAIN_ID, domain, nonce, uri, statement, version: "1" } as const;
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
    auth,
    people,
    otp,
    factors,
    approvals,
    apiKeys,
    policies,
    projectPolicies,
    mailOutbox,
    /** Mail that waits in the outbox for this address, oldest first. */
    waitingMail: (to: string) => database.prisma.mailOutbox.findMany({ where: { to }, orderBy: { id: "asc" } }),
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
