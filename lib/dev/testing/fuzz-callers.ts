/**
 * The callers of the fuzzer: people of each role, API keys, a person of another project, and
 * nobody.
 */
import { getMe } from "@/lib/contracts/auth";
import { listChains } from "@/lib/contracts/chains";
import { SCOPES, type Scope } from "@/lib/contracts/contract";
import { listWallets } from "@/lib/contracts/wallets";
import type { TestApi, TestSession } from "./api";
import { testKey } from "./factories";
import { fund } from "./journey";

export type Credentials = Readonly<Record<string, string>>;

export interface FuzzCallers {
  /** The credentials of each caller, in a fixed order. */
  readonly all: () => readonly Credentials[];
  /** Restores rights that requests removed: ended sessions, revoked keys, removed members. */
  readonly restore: () => Promise<void>;
}

interface Person {
  readonly privateKey: `0x${string}`;
  readonly userId: string;
  session: TestSession;
}

const FUNDED = "10000";
const ROLES = ["owner", "admin", "operator", "viewer"] as const;

const KEYS: Readonly<Record<string, object>> = {
  "with codes": { scopes: [...SCOPES] },
  "without codes": { scopes: [...SCOPES], otp: "exempt", dailyCapUsd: "1000" },
  "that reads": { scopes: SCOPES.filter((scope: Scope) => scope.endsWith(":read")) },
};

const newPerson = async (api: TestApi): Promise<Person> => {
  const privateKey = testKey();
  const session = await api.signIn(privateKey);
  return { privateKey, session, userId: (await session.client.call(getMe, {})).id };
};

const fundTreasury = async ({ client }: TestSession): Promise<void> => {
  const [{ data: wallets }, { data: chains }] = await Promise.all([
    client.call(listWallets, {}),
    client.call(listChains, {}),
  ]);
  const treasury = wallets.find(({ kind }) => kind === "treasury");
  if (treasury === undefined) throw new Error("A first sign-in makes a treasury.");
  for (const { id: chainId } of chains)
    await fund(client, treasury.address, { chainId, token: "USDC", amount: FUNDED });
};

const isRefused = async (api: TestApi, path: string, headers: Credentials): Promise<boolean> =>
  (await api.fetch(path, { headers })).status === 401;

const bearer = ({ session }: Person): Credentials => ({
  authorization: `Bearer ${session.accessToken}`,
});

/**
 * Creates the callers in two projects: one project with members, keys and money, and the project of
 * a stranger.
 */
export const fuzzCallers = async (api: TestApi): Promise<FuzzCallers> => {
  const members: (Person & { readonly role: (typeof ROLES)[number] })[] = [];
  for (const role of ROLES) members.push({ ...(await newPerson(api)), role });
  const stranger = await newPerson(api);
  const [owner] = members;
  if (owner === undefined) throw new Error("There are roles.");
  await api.verifiedEmail(owner.session);
  await fundTreasury(owner.session);
  const projectId = (await owner.session.client.call(getMe, {})).projects[0]?.id ?? "";
  const keys = new Map<string, Credentials>();

  const restoreKey = async (name: string, input: object): Promise<void> => {
    const known = keys.get(name);
    if (known !== undefined && !(await isRefused(api, "/wallets", known))) return;
    // The project's policies may not allow another key at the moment; then the caller has none.
    const made = await api.createKey(owner.session, input).catch(() => null);
    if (made !== null) keys.set(name, { "x-api-key": made.secret });
  };

  const restore = async (): Promise<void> => {
    for (const person of [...members, stranger])
      if (await isRefused(api, "/me", bearer(person)))
        person.session = await api.signIn(person.privateKey);
    for (const { role, userId } of members) {
      await api.services.database.prisma.membership.upsert({
        where: { projectId_userId: { projectId, userId } },
        create: { projectId, userId, role, createdAt: new Date() },
        update: { role },
      });
      api.services.projects.forget(userId);
    }
    for (const [name, input] of Object.entries(KEYS)) await restoreKey(name, input);
  };
  await restore();

  const all = (): Credentials[] => [
    {},
    { authorization: "Bearer eyJhbGciOiJub25lIn0.e30." },
    { ...bearer(stranger) },
    ...members.map((member) => ({ ...bearer(member), "x-project-id": projectId })),
    ...Object.keys(KEYS).map((name) => keys.get(name) ?? {}),
    // Two callers appear more often, because they can use most of the service.
    ...[0, 1].flatMap(() => [bearer(owner), keys.get("without codes") ?? {}]),
  ];
  return { all, restore };
};
