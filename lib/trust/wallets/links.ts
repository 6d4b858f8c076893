import { createSiweMessage, parseSiweMessage } from "viem/siwe";
import type { EvmAddress } from "@/lib/core/evm";
import { randomBytes } from "node:crypto";
import type { Hex } from "viem";
import {
  type ChainClients,
  isRecovered,
  verifySignedMessage,
} from "@/lib/chain/signed-message";
import type { UserActor } from "@/lib/core/actor";
import { addSeconds, type Clock } from "@/lib/core/clock";
import { DomainError, notFound } from "@/lib/core/errors";
import { newId } from "@/lib/core/ids";
import type { Database, Tx } from "@/lib/platform/db/client";
import { doneBy, recordAudit } from "@/lib/news/audit/service";
import type { AuthService } from "@/lib/trust/auth/service";
import { base62 } from "@/lib/core/base62";
import {
  claimAddress,
  consumeLinkRequest,
  findHolder,
  findLinkedWallet,
  findOpenOperationOf,
  isWalletAlready,
  type LinkedWallet,
  type LinkRequest,
  type LinkSubject,
  listLinkedWallets,
  listLinkRequests,
  lockAddress,
  replaceLinkRequest,
  unlinkWallet,
  upsertLinkedWallet,
} from "./repository";

interface LinkMessage {
  readonly address: EvmAddress;
  readonly chainId: number;
  readonly publicUrl: string;
  readonly nonce: string;
  readonly project: { readonly id: string; readonly name: string };
  readonly person: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

const NAME_LENGTH_MAX = 60;

/**
 * Replaces all characters other than those that EIP-4361 allows in a statement (RFC 3986 reserved
 * and unreserved, space), because some wallets refuse them.
 */
const legible = (name: string): string =>
  name
    .replace(/[^A-Za-z0-9 ._~:/?#[\]@!$&'()*+,;=-]+/g, " ")
    .replace(/ {2,}/g, " ")
    .trim()
    .slice(0, NAME_LENGTH_MAX);

/**
 * The EIP-4361 message whose signature links the wallet. It names the account to which the wallet
 * is linked, and says that nothing is sent.
 */
export const linkMessage = ({
  address,
  chainId,
  nonce,
  project,
  person,
  ...rest
}: LinkMessage): string => {
  const { host: domain, origin: uri } = new URL(rest.publicUrl);
  const name = legible(project.name);
  const shown = name === "" ? project.id : name;
  const statement = `Link this wallet to the project ${shown} in the Causeway account of ${person}. This makes no transaction and costs nothing.`;
  const times = { issuedAt: rest.issuedAt, expirationTime: rest.expiresAt };
  return createSiweMessage({
    address,
    chainId,
    domain,
    nonce,
    statement,
    uri,
    version: "1",
    ...times,
  });
};

/**
 * Reads a message that this service created.
 * @throws Error when the text is not an EIP-4361 message with a chain and a domain
 */
export const readLinkMessage = (message: string): { chainId: number; domain: string } => {
  const { chainId, domain } = parseSiweMessage(message);
  if (chainId === undefined || domain === undefined)
    throw new Error("A stored message is not one of EIP-4361.");
  return { chainId, domain };
};

export type { LinkedWallet } from "./repository";

interface WalletLinksDeps {
  readonly database: Database;
  readonly registry: ChainClients & { list(): readonly { readonly id: number }[] };
  /** Origin of the app in browsers: domain and URI of the messages. */
  readonly publicUrl: string;
  readonly profiles: Pick<AuthService, "me">;
  readonly clock: Clock;
}

/**
 * Wallets whose ownership people prove by a signature, and which they add to a project as sources.
 */
interface WalletLinksService {
  /**
   * The EIP-4361 message to sign, which is valid once and for 10 minutes. It replaces the person's
   * earlier message for the wallet.
   * @throws DomainError `unsupported_chain`, `wallet_already_linked`
   */
  init(
    actor: UserActor,
    input: LinkInput,
  ): Promise<{ nonce: string; message: string; expiresAt: Date }>;
  /**
   * Links the wallet that signed the message of `init`: a plain account, or a contract on the
   * message's chain, deployed (ERC-1271) or not yet (ERC-6492). Every attempt uses up the message,
   * even with a wrong signature. Of several concurrent attempts with one message only one
   * succeeds.
   * @throws DomainError `nonce_expired`, `invalid_signature`, `wallet_already_linked`,
   * `chain_unavailable`
   */
  verify(
    actor: UserActor,
    input: { readonly address: EvmAddress; readonly signature: string },
  ): Promise<LinkedWallet>;
  /** The wallets that the person linked to the project, oldest first (at most 1,000). */
  list(actor: UserActor): Promise<LinkedWallet[]>;
  /**
   * Removes the link of the wallet to the project.
   * @throws DomainError `not_found`, `invalid_state` while an operation needs the wallet
   */
  unlink(
    actor: UserActor,
    address: EvmAddress,
  ): Promise<{ address: EvmAddress; unlinkedAt: Date }>;
}

interface LinkInput {
  readonly address: EvmAddress;
  /** Default: the first configured chain. */
  readonly chainId?: number | undefined;
}

const NONCE_BYTES = 16;
const LINK_SECONDS = 600;
const LINKED_MAX = 1000;
/**
 * Number of earlier messages with which a wrong signature is compared, so that the error can say
 * that an old one was signed.
 */
const REQUESTS_COMPARED_MAX = 5;

export const createWalletLinks = (deps: WalletLinksDeps): WalletLinksService => {
  const { database, clock } = deps;

  const init: WalletLinksService["init"] = async (actor, { address, chainId }) => {
    const subject = { userId: actor.userId, projectId: actor.projectId, address };
    const signsOn = chainOf(deps, chainId);
    await checkFree(deps, subject);
    const profile = await deps.profiles.me(actor);
    const name =
      profile.projects.find(({ projectId }) => projectId === actor.projectId)?.name ?? "";
    const now = clock.now();
    const request = {
      nonce: base62(randomBytes(NONCE_BYTES)),
      expiresAt: addSeconds(now, LINK_SECONDS),
    };
    const project = { id: actor.projectId, name };
    const where = { address, chainId: signsOn, publicUrl: deps.publicUrl };
    const message = linkMessage({
      ...where,
      ...request,
      project,
      person: profile.address,
      issuedAt: now,
    });
    await database.transaction((tx) =>
      replaceLinkRequest(tx, subject, { ...request, message, now }),
    );
    return { ...request, message };
  };

  const verify: WalletLinksService["verify"] = async (actor, { address, signature }) => {
    const subject = { userId: actor.userId, projectId: actor.projectId, address };
    const [request, ...earlier] = await listLinkRequests(
      database.prisma,
      subject,
      REQUESTS_COMPARED_MAX,
    );
    if (!request)
      throw closed("No request of yours to link this wallet to this project is open.");
    checkOpen(request, clock.now());
    // The message is used up before the signature is checked, even when the signature is wrong. So
    // each message allows only one check, which may be expensive for a chain's node.
    if (!(await consumeLinkRequest(database.prisma, request.nonce, clock.now())))
      throw usedAlready();
    const { chainId } = readLinkMessage(request.message);
    const signed = { address, chainId, message: request.message, signature: signature as Hex };
    const proof = await verifySignedMessage(signed, deps.registry);
    if (proof === null) throw await wrongSignature(signed, request, earlier);
    const contractChainId = proof === "contract" ? chainId : null;
    const proven = { ...subject, actor, contractChainId };
    return database.transaction((tx) => link(tx, proven, clock.now()));
  };

  const unlink: WalletLinksService["unlink"] = async (actor, address) => {
    const { userId, projectId } = actor;
    const unlinkedAt = clock.now();
    await database.transaction(async (tx) => {
      await lockAddress(tx, address);
      const wallet = await findLinkedWallet(tx, { userId, projectId, address });
      if (!wallet) throw notFound();
      const operationId = await findOpenOperationOf(tx, wallet.id);
      if (operationId !== null) throw busy(operationId);
      await unlinkWallet(tx, { id: wallet.id, userId, projectId, address }, unlinkedAt);
      const entry = { ...doneBy(actor), subject: wallet.id, at: unlinkedAt };
      await recordAudit(tx, { ...entry, action: "wallet.unlinked", data: { address } });
    });
    return { address, unlinkedAt };
  };

  const list: WalletLinksService["list"] = ({ projectId, userId }) =>
    listLinkedWallets(database.prisma, { projectId, userId, limit: LINKED_MAX });

  return { init, verify, unlink, list };
};

const chainOf = ({ registry }: WalletLinksDeps, asked: number | undefined): number => {
  const chainIds = registry.list().map(({ id }) => id);
  const chainId = asked ?? chainIds[0];
  if (chainId !== undefined && chainIds.includes(chainId)) return chainId;
  const message = `Chain ${asked ?? ""} is not used here.`;
  const details = [{ path: "chainId", message, code: "unsupported_chain" }];
  throw new DomainError("unsupported_chain", message, { details });
};

const taken = (): DomainError =>
  new DomainError(
    "wallet_already_linked",
    "This wallet is linked to another person's account. It must be unlinked there before it can be linked here.",
  );

const notLinkable = (): DomainError =>
  new DomainError(
    "wallet_already_linked",
    "This address is a treasury or smart account that was made here. It is used as it is and cannot be linked.",
  );

/** An early check before anybody signs; the transaction that links the wallet checks again. */
const checkFree = async (
  { database }: WalletLinksDeps,
  { address, projectId, userId }: LinkSubject,
): Promise<void> => {
  const holder = await findHolder(database.prisma, address);
  if (holder !== null && holder !== userId) throw taken();
  if (await isWalletAlready(database.prisma, { address, projectId })) throw notLinkable();
};

const closed = (message: string): DomainError =>
  new DomainError(
    "nonce_expired",
    `${message} Ask for a new one (POST /wallets/link/init) and sign its message.`,
  );

const usedAlready = (): DomainError =>
  closed("This request to link the wallet was used already.");

const checkOpen = (request: LinkRequest, now: Date): void => {
  if (request.usedAt !== null) throw usedAlready();
  if (request.expiresAt <= now) throw closed("This request to link the wallet has expired.");
};

interface Signed {
  readonly address: EvmAddress;
  readonly message: string;
  readonly signature: Hex;
}

/**
 * The error for a wrong signature. A signature does not reveal its message, so earlier messages of
 * the person are tried, and the error can say that an old message was signed.
 */
const wrongSignature = async (
  { address, message, signature }: Signed,
  { nonce }: LinkRequest,
  earlier: readonly LinkRequest[],
): Promise<DomainError> => {
  const old = await Promise.all(
    earlier.map((each) => isRecovered({ address, message: each.message, signature })),
  );
  if (old.includes(true))
    return closed(
      "This signature is over a message that was used already, or that a newer one replaced.",
    );
  const { chainId, domain } = readLinkMessage(message);
  const text = `The signature is not one of ${address} over the message that was made for it: for ${domain}, chain ${chainId}, nonce ${nonce}. The message is used up: ask for a new one (POST /wallets/link/init) and sign exactly that with that wallet.`;
  return new DomainError("invalid_signature", text, {
    details: [{ path: "signature", message: text }],
  });
};

interface Proven extends LinkSubject {
  readonly actor: UserActor;
  readonly contractChainId: number | null;
}

const link = async (tx: Tx, proven: Proven, at: Date): Promise<LinkedWallet> => {
  const { userId, projectId, address, contractChainId } = proven;
  const claim = await claimAddress(tx, { address, userId, at });
  if (claim.userId !== userId) throw taken();
  if (await isWalletAlready(tx, { address, projectId })) throw notLinkable();
  const subject = { userId, projectId, address };
  const wallet = await upsertLinkedWallet(tx, {
    id: newId("wallet"),
    ...subject,
    contractChainId,
    createdAt: at,
  });
  if (!wallet) throw notLinkable();
  const entry = { ...doneBy(proven.actor), subject: wallet.id, at };
  await recordAudit(tx, {
    ...entry,
    action: "wallet.linked",
    data: { address, contractChainId },
  });
  return { ...wallet, linkedAt: claim.linkedAt };
};

const busy = (operationId: string): DomainError =>
  new DomainError(
    "invalid_state",
    `Operation ${operationId} still moves money from this wallet. Unlink it when the operation is over.`,
    { extra: { operationId } },
  );
