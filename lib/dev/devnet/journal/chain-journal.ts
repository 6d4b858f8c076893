// The journal of one chain, and the checkpoints that keep it short.
import type { Checkpointer } from "./checkpointer";
import { DivergedError } from "./checkpoint";
import { headOf } from "./apply";
import type { Checkpoint, ChainStore } from "./chain-store";
import type { NodeClient } from "./node-client";
import type { JournalRecord } from "./record";
import { restoreNode, type RestoredNode } from "./restore";
import { openSegment, type SegmentWriter } from "./segment";

/**
 * Number of calls and blocks after which a checkpoint is made. Replaying that many takes a few
 * seconds.
 */
const STEPS_PER_CHECKPOINT = 2_000;
/** Pause between two attempts to dump a node whose state the journal does not reproduce. */
const DUMP_RETRY_MS = 10_000;

export interface ChainJournal {
  /** @throws Error when the record cannot be written; the chain must then stop */
  append(record: JournalRecord): void;
  /** Starts a node and brings it to the state of the journal. */
  restore(): Promise<RestoredNode>;
  /**
   * Manages checkpoints: starts one when the journal has become long, and commits one that is
   * ready. Call it only between two records.
   */
  tend(node: NodeClient, clockOffset: number): Promise<void>;
  /**
   * Stores the node's own state, for changes that the journal cannot express. Call it only between
   * two records.
   */
  dump(node: NodeClient, clockOffset: number, isSmall?: boolean): Promise<void>;
  close(): Promise<void>;
}

interface JournalOptions {
  readonly store: ChainStore;
  readonly checkpointer: Checkpointer;
  readonly log: (message: string) => void;
  /** Calls and blocks after which a checkpoint is made. */
  readonly stepsPerCheckpoint?: number | undefined;
  /** Called when `tend` has something to do. */
  readonly onReady: () => void;
}

export const openChainJournal = (options: JournalOptions): ChainJournal => {
  const {
    store,
    checkpointer,
    log,
    onReady,
    stepsPerCheckpoint = STEPS_PER_CHECKPOINT,
  } = options;
  let segment = store.nextSegment();
  let writer: SegmentWriter = openSegment(store.segmentFile(segment));
  let steps = 0;
  let isMaking = false;
  let ready: Checkpoint | null = null;
  /**
   * When to dump the node itself, on the clock of `performance.now()`; null when no dump is
   * planned.
   */
  let dumpAt: number | null = null;

  const reason = (error: unknown): string =>
    error instanceof Error ? error.message : String(error);
  const say = (message: string): void => log(`Chain ${String(store.chainId)}: ${message}`);

  /**
   * Starts a new file for the following records.
   * @returns its number
   */
  const rotate = (): number => {
    const next = openSegment(store.segmentFile(segment + 1));
    segment += 1;
    // No fsync here: a reader of this machine sees the written bytes even before they are on the
    // disk.
    writer.close().catch((error: unknown) => say(reason(error)));
    writer = next;
    steps = 0;
    return segment;
  };

  const jobOf = async (node: NodeClient, clockOffset: number) => {
    const { number, stateRoot } = await headOf(node);
    const expected = { number, stateRoot };
    return {
      folder: store.folder,
      chainId: store.chainId,
      segment: rotate(),
      clockOffset,
      expected,
    };
  };

  const commit = async (checkpoint: Checkpoint): Promise<void> => {
    // A checkpoint started before a dump is older than the dump, so it is dropped.
    if (checkpoint.segment <= (store.checkpoint()?.segment ?? -1)) return;
    await store.commit(checkpoint);
    store.tidy();
  };

  const dump = async (
    node: NodeClient,
    clockOffset: number,
    isSmall = false,
  ): Promise<void> => {
    // Plans a retry first, because a restoration would reach another state until a dump succeeds.
    dumpAt = performance.now() + DUMP_RETRY_MS;
    const job = await jobOf(node, clockOffset);
    await commit(await checkpointer.run({ ...job, livePort: node.port, isSmall }));
    dumpAt = null;
  };

  const begin = async (node: NodeClient, clockOffset: number): Promise<void> => {
    const job = await jobOf(node, clockOffset);
    isMaking = true;
    checkpointer
      .run({ ...job, livePort: null, isSmall: false })
      .then(
        (made) => {
          ready = made;
        },
        (error: unknown) => {
          if (error instanceof DivergedError) dumpAt = performance.now();
          say(`no checkpoint this time. ${reason(error)}`);
        },
      )
      .finally(() => {
        isMaking = false;
        onReady();
      });
  };

  return {
    append: (record) => {
      writer.append(record);
      steps += record.calls.length + (record.block === null ? 0 : 1);
    },
    restore: async () => {
      const checkpoint = store.checkpoint();
      const segments = store.segments(checkpoint?.segment ?? 0);
      const logFile = store.logFile("node");
      const restored = await restoreNode({
        store,
        checkpoint,
        segments,
        cutsTails: true,
        logFile,
        log,
      });
      ({ steps } = restored);
      return restored;
    },
    tend: async (node, clockOffset) => {
      if (ready !== null) {
        const made = ready;
        ready = null;
        await commit(made);
      }
      if (dumpAt !== null && performance.now() >= dumpAt)
        await dump(node, clockOffset).catch((error: unknown) =>
          say(`its state cannot be kept now. ${reason(error)}`),
        );
      if (steps >= stepsPerCheckpoint && !isMaking) await begin(node, clockOffset);
    },
    dump,
    close: () => writer.close(),
  };
};
