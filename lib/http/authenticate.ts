import { type Actor, type ApiKeyActor, requireScope } from "@/lib/core/actor";
import { mayWrite, type Contract } from "@/lib/contracts/contract";
import { DomainError, RefusedKeyError } from "@/lib/core/errors";
import { requirePermission } from "@/lib/core/permissions";
import type { HttpInput } from "./input";
import type { HttpServices } from "./services";

const API_KEY = /^cw_(live|test)_/;
const BEARER = /^Bearer +([A-Za-z0-9._~+/=-]+)$/i;
const CREDENTIAL_LENGTH_MAX = 4096;

type Credential = { readonly kind: "apiKey" | "token"; readonly value: string };

const unauthorized = (message: string): DomainError => new DomainError("unauthorized", message);

const readCredential = (input: HttpInput): Credential => {
  const apiKey = input.header("x-api-key");
  const authorization = input.header("authorization");
  if (apiKey !== null && authorization !== null)
    throw unauthorized(
      "Send either x-api-key or Authorization, not both: it must be clear who calls.",
    );
  if (apiKey !== null) {
    if (apiKey.length > CREDENTIAL_LENGTH_MAX)
      throw unauthorized("The API key does not have the form of one.");
    return { kind: "apiKey", value: apiKey };
  }
  if (authorization === null)
    throw unauthorized(
      "Authentication is needed: an API key in x-api-key, or Authorization: Bearer <access token>.",
    );
  const token =
    authorization.length > CREDENTIAL_LENGTH_MAX ? undefined : BEARER.exec(authorization)?.[1];
  if (token === undefined)
    throw unauthorized("Authorization must have the form: Bearer <access token>.");
  if (API_KEY.test(token))
    throw unauthorized(
      "This is an API key. Send it in the header x-api-key, without the word Bearer.",
    );
  return { kind: "token", value: token };
};

const NOBODY = Promise.resolve(null);

/**
 * Rejects an API key on a route that only people may call. The key is verified first, so that only
 * the holder of a valid key learns that the route is not for keys.
 */
const refuseKey = async (
  services: HttpServices,
  secret: string,
  from: string | null,
): Promise<never> => {
  const key = await services.apiKeys.verify(secret, from);
  throw new RefusedKeyError(
    "forbidden",
    "An API key may not do this; a signed-in person can.",
    key,
  );
};

const authenticateToken = async (
  services: HttpServices,
  token: string,
  project: string | null,
): Promise<Actor> => {
  const { userId, sessionId, expiresAt } = await services.auth.verifyAccessToken(token);
  const { projectId, role } = await services.projects.resolve(userId, project);
  return { type: "user", userId, sessionId, projectId, role, expiresAt };
};

/**
 * The caller, or null for a public route. Checks the credential, not its permissions.
 * @param from IP address of the caller; null when unknown
 * @throws DomainError `unauthorized` …, `forbidden` for an API key on a route that only people may
 * call, `not_found` for a project of others
 */
export const authenticate = (
  contract: Contract,
  input: HttpInput,
  services: HttpServices,
  from: string | null,
): Promise<Actor | null> => {
  if (contract.auth === "public") return NOBODY;
  const credential = readCredential(input);
  if (credential.kind === "token")
    return authenticateToken(services, credential.value, input.header("x-project-id"));
  if (contract.auth === "user") return refuseKey(services, credential.value, from);
  return services.apiKeys.verify(credential.value, from);
};

const checkScope = (actor: ApiKeyActor, scope: Contract["scope"]): void => {
  if (scope === undefined) return;
  if (typeof scope === "string") {
    requireScope(actor, scope);
    return;
  }
  if (scope.some((each) => actor.scopes.includes(each))) return;
  throw new DomainError(
    "insufficient_scope",
    `This API key has none of the scopes ${scope.join(", ")}.`,
  );
};

/**
 * Checks that the actor may call the route. Services check further permissions.
 * @throws DomainError `insufficient_scope` (keys), `forbidden` (people whose role does not allow
 * it)
 */
export const authorize = (contract: Contract, actor: Actor | null): void => {
  if (actor === null) return;
  if (actor.type === "apiKey") {
    checkScope(actor, contract.scope);
    return;
  }
  if (mayWrite(contract) && contract.personal !== true) refuseViewer(actor);
  if (contract.permission !== undefined) requirePermission(actor, contract.permission);
};

/** Refuses people who may only read. @throws DomainError `forbidden` */
export const refuseViewer = (actor: Actor): void => {
  if (actor.type === "user" && actor.role === "viewer")
    throw new DomainError(
      "forbidden",
      "A viewer of this project may look, not change. Ask an owner for another role.",
    );
};
