/** Events and deliveries of projects on two nodes of a cluster, one of which is killed. */
import { afterEach, expect, test, vi } from "vitest";
import { recordEventsOn } from "@/lib/news/events/service";
import { afterFile } from "@/lib/dev/testing/after-file";
import { testApi } from "@/lib/dev/testing/api";
import { killNode, nodeOfProject, urlOfNode } from "@/lib/dev/testing/cluster-node";
import { webhookReceiver } from "@/lib/dev/testing/webhook-receiver";

const PROJECTS_MAX = 12;
const EVENTS = 6;
const WAIT = { timeout: 90_000, interval: 100 };
const TIMEOUT_MS = 240_000;

const api = await testApi({ devnet: false });
const { services } = api;
const { database } = services;

const newProject = async () => {
  const session = await api.signIn();
  const key = await api.createKey(session, {
    scopes: [
      "webhooks:read",
      "webhooks:write",
      "operations:read",
      "transfers:read",
      "payouts:read",
    ],
  });
  const actor = await services.apiKeys.verify(key.secret);
  const { projectId } = actor;
  const receiver = await webhookReceiver();
  receiver.answer((response) => response.writeHead(200).end());
  return { actor, projectId, receiver, node: await nodeOfProject(database.pool, projectId) };
};
type Project = Awaited<ReturnType<typeof newProject>>;

const happen = async ({ projectId }: Project, objectId: string): Promise<void> => {
  for (let n = 0; n < EVENTS; n += 1)
    await database.rawTransaction((sql) =>
      recordEventsOn(sql, [
        { projectId, type: "operation.processing", objectId, data: { n }, at: new Date() },
      ]),
    );
};

const waiting = ({ projectId }: Project): Promise<number> =>
  database.prisma.eventOutbox.count({ where: { projectId, type: "operation.processing" } });

const received = ({ receiver }: Project, objectId: string): number[] => {
  const own = receiver.received.filter(({ body }) => body.objectId === objectId);
  // A delivery may be repeated, under the same id.
  return [
    ...new Map(
      own.map(({ headers, body }) => [headers["webhook-id"], Number(body.objectSequence)]),
    ).values(),
  ];
};
const ALL = Array.from({ length: EVENTS }, (_, index) => index + 1);

let restart = (): Promise<void> => Promise.resolve();
afterEach(() => restart());

test(
  "while a node is lost the events of its projects wait, those of others are numbered and delivered, and nothing is lost or doubled when it is back",
  async () => {
    const projects: Project[] = [];
    while (new Set(projects.map(({ node }) => node)).size < 2 && projects.length < PROJECTS_MAX)
      projects.push(await newProject());
    const [hit] = projects;
    const other = projects.find(({ node }) => node !== hit?.node);
    if (hit === undefined || other === undefined)
      throw new Error("All projects lie on one node.");
    for (const { actor, receiver } of [hit, other])
      await services.webhooks.create(actor, {
        url: receiver.url,
        events: ["operation.*"],
        payload: "full",
        includePrivate: false,
      });
    const workers = ["one", "two"].map((name) => services.startWebhooks(name));
    afterFile(async () => {
      for (const worker of workers) await worker.stop();
    });
    for (const project of [hit, other]) {
      await happen(project, "op_before");
      await vi.waitFor(() => expect(received(project, "op_before").sort()).toEqual(ALL), WAIT);
    }

    const killed = await killNode(await urlOfNode(hit.node));
    restart = killed.restart;
    for (const project of [hit, other]) await happen(project, "op_meanwhile");
    await vi.waitFor(() => expect(received(other, "op_meanwhile").sort()).toEqual(ALL), WAIT);
    expect(await waiting(hit)).toBe(EVENTS);
    expect(received(hit, "op_meanwhile")).toEqual([]);

    await killed.restart();
    await vi.waitFor(() => expect(received(hit, "op_meanwhile").sort()).toEqual(ALL), WAIT);
    await happen(hit, "op_after");
    await vi.waitFor(() => expect(received(hit, "op_after")).toEqual(ALL), WAIT);
    for (const project of [hit, other]) {
      // Not sorted, because an endpoint must receive the events of one object in order.
      expect(received(project, "op_meanwhile")).toEqual(ALL);
      const { data, lastSequence } = await services.events.list(project.actor, {
        after: 0,
        limit: 500,
      });
      // The first event is about the reading key, and no key may read events about keys.
      expect(data.map(({ sequence }) => sequence)).toEqual(
        Array.from({ length: lastSequence - 1 }, (_, index) => index + 2),
      );
      const ids = data.map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      const counts = await database.pool.query(
        "SELECT count(*)::int AS all, count(DISTINCT event_id)::int AS events FROM webhook_delivery WHERE project_id = $1",
        [project.projectId],
      );
      const sent = data.filter(({ type }) => type === "operation.processing").length;
      expect(counts.rows).toEqual([{ all: sent, events: sent }]);
    }
  },
  TIMEOUT_MS,
);
