import { expect, test, vi } from "vitest";
import { newId } from "@/lib/core/ids";
import { manualTicker } from "@/lib/dev/testing/ticker";
import { createFeed, Subscriber } from "./feed";
import { CHANGE_CHANNEL, type ChangesRepository, type ProjectCursor } from "./repository";
import type { Found } from "./rows";

const NOW = new Date("2026-11-25T12:00:00Z");

const newFeed = () => {
  const time = manualTicker();
  const newer = vi.fn<ChangesRepository["newer"]>(() => Promise.resolve([]));
  let announce: (projectId: string) => void = () => undefined;
  const feed = createFeed({
    repository: {
      newer,
      head: () => Promise.resolve({ events: 7, audit: 3 }),
      recent: () => Promise.reject(new Error("not asked")),
      boxes: () => Promise.resolve([]),
      parked: () => Promise.resolve(new Map()),
      wasNotifiedSince: () => Promise.resolve(false),
    },
    ticker: time.ticker,
    clock: { now: () => NOW },
    listener: {
      on: (channel, handler) => {
        if (channel === CHANGE_CHANNEL) announce = handler;
        return () => undefined;
      },
    },
  });
  const read = (): string[][] =>
    newer.mock.calls.map(([cursors]) =>
      cursors.map(({ projectId }: ProjectCursor) => projectId).sort(),
    );
  return { feed, time, newer, read, announce: (projectId: string) => announce(projectId) };
};

const watch = async (
  { feed }: ReturnType<typeof newFeed>,
  projectId: string,
): Promise<void> => {
  const actor = {
    type: "user",
    userId: newId("user"),
    projectId,
    sessionId: newId("session"),
    role: "owner",
  } as const;
  const subscriber = new Subscriber(
    actor,
    () => ({ events: 0, audit: 0 }),
    () => undefined,
    NOW,
  );
  await feed.add(projectId, subscriber);
};

test("an announcement reads the project that it names; all watched ones are read once a second", async () => {
  const made = newFeed();
  const [one, two, three] = [newId("project"), newId("project"), newId("project")].sort();
  for (const projectId of [one, two, three]) await watch(made, projectId ?? "");
  made.announce(two ?? "");
  await vi.waitFor(() => expect(made.read()).toEqual([[two]]), 8_000);
  made.announce(newId("project"));
  made.time.pass(1000);
  await vi.waitFor(() => expect(made.read()).toEqual([[two], [one, two, three]]), 8_000);
});

test("announcements during a reading are read together after it", async () => {
  const made = newFeed();
  const [one, two, three] = [newId("project"), newId("project"), newId("project")].sort();
  for (const projectId of [one, two, three]) await watch(made, projectId ?? "");
  let endReading: (found: readonly Found[]) => void = () => undefined;
  made.newer.mockReturnValueOnce(new Promise((resolve) => (endReading = resolve)));
  for (const projectId of [one, two, three, two]) made.announce(projectId ?? "");
  expect(made.read()).toEqual([[one]]);
  endReading([]);
  await vi.waitFor(() => expect(made.read()).toEqual([[one], [two, three]]), 8_000);
});
