import type { Hex } from "viem";
import { DomainError, notFound } from "@/lib/core/errors";
import type { Database, Tx } from "@/lib/platform/db/client";
import {
  consumeNonce,
  ensureUser,
  findUser,
  hasAnyUser,
  hasUser,
  insertNonce,
  lockFirstSignUp,
  nonceState,
  setUserName,
} from "./repository";
import { randomBytes } from "node:crypto";
import { type ChainClients, verifySignedMessage } from "@/lib/chain/signed-message";
import type { PasskeyAssertion, PasskeyRequest } from "@/lib/contracts/passkey-records";
import type { RequestContext, UserActor } from "@/lib/core/actor";
import { addSeconds, type Clock } from "@/lib/core/clock";
import { newId } from "@/lib/core/ids";
import type { ApprovalsService, GivenApproval } from "@/lib/trust/proofs/service";
import { doneBy, recordAudit } from "@/lib/news/audit/service";
import type { Keyring, Secrets } from "@/lib/platform/encryption/service";
import type { CodeLimits } from "@/lib/trust/proofs/service";
import type { Membership, ProjectsService } from "@/lib/trust/projects/service";
import { base62 } from "@/lib/core/base62";
import type { WalletsService } from "@/lib/trust/wallets/service";
import type { Mailer } from "@/lib/platform/ports/mail";
import {
  type AccessToken,
  createAccessTokens,
  createTokenKeys,
  type Jwk,
} from "./access-token";
import { createEmailVerification, type Verification } from "./email";
import type { SessionKind, User } from "./records";
import { readSignInMessage, type SignInMessage } from "./siwe";
import {
  createSessions,
  type Sessions,
  type SessionsDeps,
  type StartedSession,
} from "./sessions";

/**
 * The rule for first sign-ins. `closed` admits the first person of an empty installation, and after
 * that only invited people.
 */
export type SignUpRule =
  | { readonly mode: "open" | "closed" }
  | { readonly mode: "allow-list"; readonly addresses: readonly string[] };

const closed = (): DomainError =>
  new DomainError(
    "sign_up_closed",
    "This address has no account here, and sign-up is closed. Ask whoever runs this installation to let you in.",
  );

/**
 * Whether this is the first person of the installation. Concurrent first sign-ins wait for each
 * other's transaction, so only one of them finds the table empty. Also true for a second concurrent
 * sign-in of the same person.
 */
const isFirst = async (tx: Tx, address: string): Promise<boolean> => {
  if (await hasAnyUser(tx)) return false;
  await lockFirstSignUp(tx);
  return !(await hasAnyUser(tx)) || hasUser(tx, address);
};

interface SignUp {
  readonly rule: SignUpRule;
  /** Checksummed. */
  readonly address: string;
  /** Whether the person presents the token of an open invitation. Called only for new people. */
  readonly isInvited: () => Promise<boolean>;
}

/**
 * Admits known people, invited ones, and new ones if the rule allows it.
 * @throws DomainError `sign_up_closed`
 */
const admitSignUp = async (tx: Tx, { rule, address, isInvited }: SignUp): Promise<void> => {
  if (rule.mode === "open" || (await hasUser(tx, address)) || (await isInvited())) return;
  if (
    rule.mode === "allow-list" ? rule.addresses.includes(address) : await isFirst(tx, address)
  )
    return;
  throw closed();
};

export { endSession } from "./sessions";

export interface AuthDeps {
  readonly database: Database;
  readonly secrets: Secrets;
  /** Encrypts the private part of the token keys. */
  readonly keyring: Keyring;
  /** Origin of the app in browsers: `iss` of tokens, domain and URI of sign-in messages. */
  readonly publicUrl: string;
  readonly registry: ChainClients & { list(): readonly { readonly id: number }[] };
  readonly projects: Pick<ProjectsService, "create" | "list" | "tellPerson">;
  readonly wallets: Pick<WalletsService, "createTreasury">;
  readonly mail: Mailer;
  readonly approvals: Pick<ApprovalsService, "requireApproval">;
  readonly sessionMade: SessionsDeps["sessionMade"];
  readonly signUp: SignUpRule;
  readonly passkeys: {
    askSignIn(): Promise<PasskeyRequest>;
    /** @throws DomainError `invalid_signature` */
    checkSignIn(
      assertion: PasskeyAssertion,
    ): Promise<{ readonly id: string; readonly userId: string }>;
  };
  readonly codeLimits: CodeLimits;
  readonly invitations: {
    isOpen(tx: Tx, token: string): Promise<boolean>;
  };
  readonly clock: Clock;
  /** Clock that measures the age of cached sessions. The default clock never goes back. */
  readonly monotonicMs?: () => number;
}

export interface Nonce {
  readonly nonce: string;
  readonly domain: string;
  readonly uri: string;
  readonly statement: string;
  readonly expiresAt: Date;
}

interface SignIn {
  readonly message: string;
  readonly signature: string;
  readonly kind: SessionKind;
  /**
   * Token of an invitation, which admits a new person when sign-up is closed. The sign-in does not
   * accept the invitation.
   */
  readonly invitation?: string | undefined;
  readonly request?: RequestContext | null;
}

interface PasskeySignIn extends Omit<SignIn, "message" | "signature" | "invitation"> {
  readonly credential: PasskeyAssertion;
}

export interface SignedIn extends AccessToken, StartedSession {
  readonly userId: string;
  readonly address: string;
}

export interface Profile extends User {
  readonly projects: readonly Membership[];
}

export interface AuthService extends Pick<
  Sessions,
  "verifyAccessToken" | "refresh" | "isLive" | "accessTokenForSession"
> {
  readonly sessions: Pick<Sessions, "list" | "revoke" | "revokeOthers">;
  /** A nonce for one EIP-4361 message; with `address`, only that wallet can use it. */
  createNonce(input?: { readonly address?: string | undefined }): Promise<Nonce>;
  /**
   * Signs in with EIP-4361. The first sign-in of an address creates the person, the project "My
   * project" and its treasury, exactly once for any number of concurrent sign-ins. Every attempt
   * uses up the message's nonce, even with a wrong signature.
   * @throws DomainError `invalid_signature`, `nonce_expired`, `sign_up_closed`, `chain_unavailable`
   */
  signIn(input: SignIn): Promise<SignedIn>;
  /** A challenge for a sign-in by passkey. */
  startPasskeySignIn(): Promise<PasskeyRequest>;
  /**
   * Signs in by a passkey, which the person added after a sign-in by wallet. Every attempt uses up
   * the challenge, even with a wrong signature.
   * @throws DomainError `invalid_signature`
   */
  signInByPasskey(input: PasskeySignIn): Promise<SignedIn>;
  /** Ends the session and its refresh token. Does nothing when it has ended already. */
  logout(sessionId: string, request?: RequestContext | null): Promise<void>;
  /** The public keys of access tokens as a JSON Web Key Set (RFC 7517). */
  jwks(): Promise<{ keys: readonly Jwk[] }>;
  /** The person with their projects. @throws DomainError `not_found` */
  me(actor: UserActor): Promise<Profile>;
  /** Sets the display name; null removes it. Others see it beside the verified address. */
  setName(actor: UserActor, name: string | null): Promise<Profile>;
  /**
   * Mails a code to the address. The address becomes the person's once `verifyEmail` gets the code.
   * @throws DomainError `rate_limited`, `provider_error`; `approval_required` when it replaces a
   * verified address
   */
  setEmail(
    actor: UserActor,
    email: string,
    approval?: GivenApproval,
  ): Promise<{ profile: Profile; verification: Verification }>;
  /**
   * Checks the mailed code, and makes the address to which it was mailed the verified one.
   * @throws DomainError `otp_invalid`, `otp_expired`, `otp_attempts_exceeded`
   */
  verifyEmail(actor: UserActor, code: string): Promise<Profile>;
  readonly browser: {
    /** The current secret first. Cookies made with the other secrets are still accepted. */
    readonly secrets: readonly string[];
    readonly publicUrl: string;
  };
}

const PURPOSE = "sign_in";
const NONCE_BYTES = 16;
const NONCE_SECONDS = 600;
const STATEMENT = "Sign in to Causeway. This makes no transaction and costs nothing.";
const FIRST_PROJECT = "My project";

/** The service of sign-ins, sessions, access tokens and e-mail addresses of people. */
export const createAuthService = (deps: AuthDeps): AuthService => {
  const { database, secrets, clock, publicUrl } = deps;
  const keys = createTokenKeys(deps);
  const accessTokens = createAccessTokens({ keys, clock, issuer: publicUrl });
  const sessions = createSessions({ ...deps, accessTokens, tell: tellBy(deps.projects) });
  const email = createEmailVerification(deps);

  const me = async (userId: string): Promise<Profile> => {
    const user = await findUser(database.prisma, userId);
    if (!user) throw notFound();
    return { ...user, projects: await deps.projects.list(userId) };
  };

  return {
    createNonce: createNonces(deps),
    signIn: createSignIn(deps, sessions, (subject) => accessTokens.mint(subject)),
    startPasskeySignIn: () => deps.passkeys.askSignIn(),
    signInByPasskey: createPasskeySignIn(deps, sessions, (subject) =>
      accessTokens.mint(subject),
    ),
    verifyAccessToken: (token) => sessions.verifyAccessToken(token),
    refresh: (token, request) => sessions.refresh(token, request),
    isLive: (sessionId) => sessions.isLive(sessionId),
    accessTokenForSession: (sessionId) => sessions.accessTokenForSession(sessionId),
    sessions,
    logout: (sessionId, request) => sessions.end(sessionId, request),
    jwks: async () => ({ keys: await keys.jwks() }),
    me: (actor) => me(actor.userId),
    setName: async (actor, name) => {
      const { userId } = actor;
      await database.transaction(async (tx) => {
        await setUserName(tx, { userId, name });
        const entry = { ...doneBy(actor), projectId: null, subject: userId, at: clock.now() };
        await recordAudit(tx, { ...entry, action: "profile.renamed", data: { name } });
      });
      return me(userId);
    },
    setEmail: async (actor, address, approval) => {
      const verification = await email.request(actor, address, approval);
      return { profile: await me(actor.userId), verification };
    },
    verifyEmail: async (actor, code) => {
      await email.verify(actor, code);
      return me(actor.userId);
    },
    browser: {
      secrets: secrets.derive("next-auth").map((key) => key.toString("base64")),
      publicUrl,
    },
  };
};

/** Mails a person at the verified address. A person without one gets no mail. */
const tellBy =
  ({ tellPerson }: Pick<ProjectsService, "tellPerson">): SessionsDeps["tell"] =>
  async (tx, userId, notice) => {
    const user = await findUser(tx, userId);
    if (user?.email != null && user.emailVerifiedAt !== null)
      await tellPerson(tx, { userId, to: user.email, ...notice });
  };

const createNonces = ({ database, clock, publicUrl }: AuthDeps): AuthService["createNonce"] => {
  const { host: domain, origin: uri } = new URL(publicUrl);
  return async ({ address } = {}) => {
    const now = clock.now();
    const nonce = base62(randomBytes(NONCE_BYTES));
    const expiresAt = addSeconds(now, NONCE_SECONDS);
    await insertNonce(database.prisma, {
      nonce,
      purpose: PURPOSE,
      address: address ?? null,
      expiresAt,
    });
    return { nonce, domain, uri, statement: STATEMENT, expiresAt };
  };
};

const nonceExpired = (): DomainError =>
  new DomainError(
    "nonce_expired",
    "This sign-in request was used or has expired. Start the sign-in again.",
  );

const createSignIn = (
  deps: AuthDeps,
  sessions: Sessions,
  mint: (subject: Subject) => Promise<AccessToken>,
) => {
  const { database, registry, publicUrl, clock } = deps;

  const read = async (input: SignIn): Promise<SignInMessage & { proof: string }> => {
    const chainIds = registry.list().map(({ id }) => id);
    const message = readSignInMessage(input.message, { publicUrl, chainIds, now: clock.now() });
    const state = await nonceState(database.prisma, {
      ...message,
      purpose: PURPOSE,
      now: clock.now(),
    });
    if (state === "closed") throw nonceExpired();
    if (state === "unknown")
      throw invalid("The message's nonce was not given by this service for this address.");
    // The nonce is used up before the signature is checked, even when the signature is wrong. So
    // each nonce allows only one check, which may be expensive for a chain's node.
    if (
      !(await consumeNonce(database.prisma, { ...message, purpose: PURPOSE, now: clock.now() }))
    )
      throw nonceExpired();
    const signed = { ...message, message: input.message, signature: input.signature as Hex };
    const proof = await verifySignedMessage(signed, registry);
    if (proof === null)
      throw invalid("The signature is not one of this address over this message.");
    return { ...message, proof };
  };

  const enter = (
    message: SignInMessage & { proof: string },
    { kind, invitation, request = null }: SignIn,
  ) =>
    database.transaction(async (tx) => {
      const { address, chainId, proof } = message;
      const contractChainId = proof === "contract" ? chainId : null;
      const user = await ensurePerson(tx, deps, {
        account: { address, contractChainId },
        invitation,
        request,
      });
      // The contract at this address on another chain may belong to somebody else, or have other
      // owners.
      if (user.contractChainId !== contractChainId) throw invalid(otherAccount(user));
      const session = await sessions.start(tx, {
        userId: user.id,
        kind,
        request,
        proof: { chainId, proof },
      });
      return { userId: user.id, address: user.address, ...session };
    });

  return async (input: SignIn): Promise<SignedIn> => {
    const signedIn = await enter(await read(input), input);
    // The treasuries are created outside of the transaction, because an external service may
    // create their keys. The call is idempotent, and the person receives the tokens only after the
    // call. If a crash prevents the call, the next sign-in repeats it. An existing treasury costs
    // one query.
    for (const { projectId } of await deps.projects.list(signedIn.userId))
      await deps.wallets.createTreasury(projectId);
    return { ...signedIn, ...(await mint(signedIn)) };
  };
};

const createPasskeySignIn = (
  deps: AuthDeps,
  sessions: Sessions,
  mint: (subject: Subject) => Promise<AccessToken>,
) => {
  return async ({ credential, kind, request = null }: PasskeySignIn): Promise<SignedIn> => {
    const { id: passkeyId, userId } = await deps.passkeys.checkSignIn(credential);
    const user = await findUser(deps.database.prisma, userId);
    if (!user) throw notFound();
    const proof = { proof: "passkey", passkeyId };
    const started = await deps.database.transaction((tx) =>
      sessions.start(tx, { userId, kind, request, proof }),
    );
    const minted = await mint({ userId, sessionId: started.sessionId });
    return { userId, address: user.address, ...started, ...minted };
  };
};

interface Subject {
  readonly userId: string;
  readonly sessionId: string;
}

const invalid = (message: string): DomainError => new DomainError("invalid_signature", message);

const otherAccount = ({ contractChainId }: User): string =>
  contractChainId === null
    ? "This address signed in as a plain account before. A contract's signature does not stand for it."
    : `This address signed in by its contract on chain ${contractChainId} before. Sign in by the same contract there.`;

const ensurePerson = async (
  tx: Tx,
  { projects, clock, signUp, invitations }: AuthDeps,
  by: {
    readonly account: { readonly address: string; readonly contractChainId: number | null };
    readonly invitation: string | undefined;
    readonly request: RequestContext | null;
  },
): Promise<User> => {
  const { account, invitation, request } = by;
  const { address } = account;
  const isInvited = async (): Promise<boolean> =>
    invitation !== undefined && invitations.isOpen(tx, invitation);
  await admitSignUp(tx, { rule: signUp, address, isInvited });
  const candidate = { id: newId("user"), ...account, createdAt: clock.now() };
  const { user, created } = await ensureUser(tx, candidate);
  if (!created) return user;
  const placeholder = await isInvited();
  await projects.create(tx, { name: FIRST_PROJECT, ownerId: user.id, placeholder, request });
  const entry = {
    projectId: null,
    actor: user.id,
    subject: user.id,
    request,
    at: user.createdAt,
  };
  await recordAudit(tx, { ...entry, action: "user.created", data: { address } });
  return user;
};
