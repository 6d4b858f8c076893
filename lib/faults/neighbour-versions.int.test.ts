/** The version before the newest migration, with its own code, and this one move money on one database at the same time, as in an upgrade without a stop. */
import { expect, test } from "vitest";
import { remoteApi, testApi, type TestApi } from "@/lib/testing/api";
import { processVariables, startApiProcess, type ApiProcess } from "@/lib/testing/api-process";
import { mainJourney, prepareJourney } from "@/lib/testing/main-journey";
import { makeOlderVersion, olderCommit } from "@/lib/testing/older-version";
import { ownDevnet } from "@/lib/testing/own-devnet";
import { prepareUnreadable } from "@/lib/testing/unreadable-records";
import { webhookReceiver } from "@/lib/testing/webhook-receiver";

const TIMEOUT_MS = 300_000;

const older = olderCommit();
const isThere = "commit" in older;
console.log(
  isThere
    ? `The older version is ${older.commit} (${older.subject}), which lacks ${older.lacks}.`
    : `No older version is tested: ${older.reason}.`,
);

interface Instance extends ApiProcess {
  readonly api: TestApi;
}

/** Starts instances of both versions on the database of this file, which this version has migrated. */
const twoVersions = async (commit: string) => {
  const [devnet, receiver] = await Promise.all([ownDevnet(), webhookReceiver()]);
  const { chains, rpcUrls } = devnet;
  const rpcVariables = Object.fromEntries(Object.entries(rpcUrls).map(([id, url]) => [`RPC_URL_${id}`, url]));
  const api = await testApi({ devnet: false, variables: { DEVNET: "1", ...rpcVariables } });
  await devnet.serve(api.services.config);
  const version = await makeOlderVersion(commit);
  const variables = processVariables(api);
  const instanceOf = (started: ApiProcess): Instance => ({ ...started, api: remoteApi(api, started.url) });

  /** Lets an instance accept all journeys, and more, and kills it. The chains mine nothing meanwhile, so all that waits for them is under way then. */
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
    expect(await api.services.database.prisma.job.count({ where: { id: { in: ids } } })).toBe(ids.length);
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

test.runIf(isThere)(
  "the version before and this one move money beside each other, and each finishes what the other had accepted when it was killed",
  { timeout: TIMEOUT_MS },
  async () => {
    const { receiver, startOlder, startNewer, killAfter, flow } = await twoVersions(isThere ? older.commit : "");
    const [old, first] = await Promise.all([startOlder(), startNewer()]);

    // Each reads the movements of the other, too.
    const [ofOld, ofNew] = await Promise.all([old, first].map(({ api }) => mainJourney(api, receiver)));
    await ofOld?.expectPaidOnce(ofOld.clientAt(first.api));
    await ofNew?.expectPaidOnce(ofNew.clientAt(old.api));

    const { accept } = await prepareUnreadable(first.api);
    const { accepted: ofKilledNew, more: unreadable } = await killAfter(first, accept);
    await unreadable.makeUnreadable();
    await flow();
    await ofKilledNew.expectPaidOnce(ofKilledNew.clientAt(old.api));
    await unreadable.expectLeftAlone();

    // The older version alone has accepted and begun this.
    const { accepted: ofKilledOld } = await killAfter(old, () => Promise.resolve());
    await unreadable.makeReadable();
    await flow();
    const second = await startNewer();
    await ofKilledOld.expectPaidOnce(ofKilledOld.clientAt(second.api));
    await unreadable.expectPaidOnce(second.api);
  },
);
