/**
 * The version before the newest migration, with its own code, and this version move money on one
 * database at the same time, as in an upgrade without downtime. While `init` is the only migration,
 * this version acts as the older one, and the test adds a second migration that its code does not
 * know.
 */
import { expect, test } from "vitest";
import { remoteApi, testApi, type TestApi } from "@/lib/dev/testing/api";
import {
  processVariables,
  startApiProcess,
  type ApiProcess,
} from "@/lib/dev/testing/api-process";
import { mainJourney, prepareJourney } from "@/lib/dev/testing/main-journey";
import { migrateToNextVersion } from "@/lib/dev/testing/next-version";
import { FIRST_VERSION, makeOlderVersion, olderCommit } from "@/lib/dev/testing/older-version";
import { ownDevnet } from "@/lib/dev/testing/own-devnet";
import { prepareUnreadable } from "@/lib/dev/testing/unreadable-records";
import { webhookReceiver } from "@/lib/dev/testing/webhook-receiver";

const TIMEOUT_MS = 300_000;

const older = olderCommit();
const isThere = "commit" in older;
const isFirst = !isThere && older.reason === FIRST_VERSION;
if (isThere)
  console.log(
    `The older version is ${older.commit} (${older.subject}), which lacks ${older.lacks}.`,
  );
else if (!isFirst) console.log(`No older version is tested: ${older.reason}.`);

interface Instance extends ApiProcess {
  readonly api: TestApi;
}

/**
 * Starts instances of both versions on the database of this file, which the newer version has
 * migrated.
 */
const twoVersions = async () => {
  const [devnet, receiver] = await Promise.all([ownDevnet(), webhookReceiver()]);
  const { chains, rpcUrls } = devnet;
  const rpcVariables = Object.fromEntries(
    Object.entries(rpcUrls).map(([id, url]) => [`RPC_URL_${id}`, url]),
  );
  const api = await testApi({ devnet: false, variables: { DEVNET: "1", ...rpcVariables } });
  await devnet.serve(api.services.config);
  if (isFirst) await migrateToNextVersion(api);
  const version = isThere ? await makeOlderVersion(older.commit) : undefined;
  const variables = processVariables(api);
  const instanceOf = (started: ApiProcess): Instance => ({
    ...started,
    api: remoteApi(api, started.url),
  });

  /**
   * Lets an instance accept all journeys and further work, and kills it. The chains mine nothing
   * during that, so all accepted work is still in progress.
   */
  const killAfter = async <T>(accepting: Instance, acceptMore: () => Promise<T>) => {
    const journey = await prepareJourney(accepting.api, receiver);
    await Promise.all(
      chains.map(async (chain) => {
        await chain.hold();
        await chain.client.setAutomine(false);
      }),
    );
    const [accepted, more] = await Promise.all([journey.accept(), acceptMore()]);
    await accepting.kill();
    const ids = [...accepted.onChain];
    expect(await api.services.database.prisma.job.count({ where: { id: { in: ids } } })).toBe(
      ids.length,
    );
    return { accepted, more };
  };
  return {
    receiver,
    startOlder: async () => instanceOf(await startApiProcess(variables, version)),
    startNewer: async () => instanceOf(await startApiProcess(variables)),
    killAfter,
    flow: async () => {
      for (const chain of chains) {
        await chain.client.setAutomine(true);
        chain.flow();
      }
    },
  };
};

test.runIf(isThere || isFirst)(
  "the version before and this one move money beside each other, and each finishes what the other had accepted when it was killed",
  { timeout: TIMEOUT_MS },
  async () => {
    const { receiver, startOlder, startNewer, killAfter, flow } = await twoVersions();
    const [old, first] = await Promise.all([startOlder(), startNewer()]);

    // Each version also reads the movements of the other.
    const [ofOld, ofNew] = await Promise.all(
      [old, first].map(({ api }) => mainJourney(api, receiver)),
    );
    await ofOld?.expectPaidOnce(ofOld.clientAt(first.api));
    await ofNew?.expectPaidOnce(ofNew.clientAt(old.api));

    const { accept } = await prepareUnreadable(first.api);
    const { accepted: ofKilledNew, more: unreadable } = await killAfter(first, accept);
    await unreadable.makeUnreadable();
    await flow();
    await ofKilledNew.expectPaidOnce(ofKilledNew.clientAt(old.api));
    await unreadable.expectLeftAlone();

    // Only the older version has accepted and begun these operations.
    const { accepted: ofKilledOld } = await killAfter(old, () => Promise.resolve());
    await unreadable.makeReadable();
    await flow();
    const second = await startNewer();
    await ofKilledOld.expectPaidOnce(ofKilledOld.clientAt(second.api));
    await unreadable.expectPaidOnce(second.api);
  },
);
