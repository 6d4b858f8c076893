/**
 * Lists that programs read as a whole: address book, members, API keys and webhook endpoints. Their
 * pages together are the list.
 */
import { beforeAll, beforeEach, expect, test } from "vitest";
import { createApiKey, listApiKeys } from "@/lib/contracts/api-keys";
import { getMe } from "@/lib/contracts/auth";
import { createContact, deleteContact, listContacts } from "@/lib/contracts/contacts";
import { listMembers } from "@/lib/contracts/members";
import {
  createWebhookEndpoint,
  deleteWebhookEndpoint,
  listWebhookEndpoints,
} from "@/lib/contracts/webhook-endpoints";
import { testApi, type TestApi, type TestSession } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import { newMember } from "@/lib/dev/testing/voters";

let api: TestApi;
let owner: TestSession;
let projectId = "";

beforeAll(async () => {
  api = await testApi({ devnet: false });
});

beforeEach(async () => {
  owner = await api.signIn();
  projectId = (await owner.client.call(getMe)).projects[0]?.id ?? "";
});

interface Page {
  readonly ids: readonly string[];
  readonly nextCursor: string | null;
}

interface List {
  readonly read: (query: { limit?: number; cursor?: string }) => Promise<Page>;
  /** @param name decides the place in a list that is sorted by name */
  readonly add: (name: string) => Promise<string>;
  /** Where the list shows the record that was added last. */
  readonly newest: "last" | "first" | "by name";
  readonly remove?: (id: string) => Promise<unknown>;
}

const pageOf = (page: {
  data: readonly { readonly id: string }[];
  nextCursor: string | null;
}): Page => ({
  ids: page.data.map(({ id }) => id),
  nextCursor: page.nextCursor,
});

const LISTS: Readonly<Record<string, List>> = {
  "/contacts": {
    read: async (query) => pageOf(await owner.client.call(listContacts, { query })),
    add: async (name) =>
      (
        await owner.client.call(createContact, {
          body: { name, address: testAccount().address },
        })
      ).id,
    newest: "by name",
    remove: (id) => owner.client.call(deleteContact, { params: { id } }),
  },
  "/members": {
    read: async (query) => {
      const { data, nextCursor } = await owner.client.call(listMembers, { query });
      return { ids: data.map(({ id }) => id), nextCursor };
    },
    add: async () => (await newMember(api, projectId, "viewer")).userId,
    newest: "last",
    remove: (userId) =>
      api.services.database.prisma.membership.deleteMany({ where: { projectId, userId } }),
  },
  "/auth/api-keys": {
    read: async (query) => pageOf(await owner.client.call(listApiKeys, { query })),
    add: async (name) => (await owner.client.call(createApiKey, { body: { name } })).id,
    newest: "first",
  },
  "/webhook-endpoints": {
    read: async (query) => pageOf(await owner.client.call(listWebhookEndpoints, { query })),
    add: async (name) =>
      (
        await owner.client.call(createWebhookEndpoint, {
          body: { url: `http://127.0.0.1:9999/${encodeURIComponent(name)}`, events: ["*"] },
        })
      ).id,
    newest: "last",
    remove: (id) => owner.client.call(deleteWebhookEndpoint, { params: { id } }),
  },
};

const NAMES = [
  "Möbius",
  "adler",
  "Zoë 80".padEnd(80, "ß"),
  "Bank",
  "Bank",
  "Bank",
  "Corner shop",
  "Ångström",
];

const added = async (list: List): Promise<void> => {
  for (const name of NAMES) await list.add(name);
};

const readFrom = async (list: List, first: Page): Promise<string[]> => {
  const ids = [...first.ids];
  let { nextCursor } = first;
  for (let turn = 0; nextCursor !== null && turn < 20; turn += 1) {
    const page = await list.read({ limit: 2, cursor: nextCursor });
    expect(page.ids.length).toBeGreaterThan(0);
    ids.push(...page.ids);
    nextCursor = page.nextCursor;
  }
  return ids;
};

test.each(Object.entries(LISTS))(
  "pages of %s together have every record once, in the list's order",
  async (_, list) => {
    await added(list);
    const whole = await list.read({});
    expect(whole.nextCursor).toBeNull();
    expect(whole.ids.length).toBeGreaterThanOrEqual(NAMES.length);
    expect(new Set(whole.ids).size).toBe(whole.ids.length);
    const first = await list.read({ limit: 2 });
    expect(first.ids).toHaveLength(2);
    expect(await readFrom(list, first)).toEqual(whole.ids);
    const exact = await list.read({ limit: whole.ids.length });
    expect(exact).toEqual(whole);
  },
);

test.each(Object.entries(LISTS))(
  "%s leaves nothing out while records are added between its pages",
  async (_, list) => {
    await added(list);
    const before = await list.read({});
    const first = await list.read({ limit: 2 });
    const [early, late] = [await list.add("AAA"), await list.add("zzzz")];
    const ids = await readFrom(list, first);
    expect(ids.filter((id) => before.ids.includes(id))).toEqual(before.ids);
    expect(new Set(ids).size).toBe(ids.length);
    const seen = [early, late].filter((id) => ids.includes(id));
    expect(seen).toEqual({ last: [early, late], first: [], "by name": [late] }[list.newest]);
  },
);

test.each(Object.entries(LISTS).filter(([, { remove }]) => remove !== undefined))(
  "%s goes on from a record that was removed meanwhile",
  async (_, list) => {
    await added(list);
    const before = await list.read({});
    const first = await list.read({ limit: 3 });
    await list.remove?.(first.ids[2] ?? "");
    expect(await readFrom(list, first)).toEqual(before.ids);
  },
);
