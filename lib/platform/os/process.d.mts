/// <reference types="node" />
/** Distinguishes a process from every other process that has had or will have the same id. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, in the operating system's own form; "" for a process that is gone. */
  readonly bornAt: string;
  readonly command: string;
}

/** Whether a process with this id runs; one of another user counts too. A zombie does not. */
export function isAlive(pid: number): boolean;

/**
 * The command line of a process, or "" when it is gone. Ids are reused, so check the command line
 * before you end a process that a file names.
 */
export function commandOf(pid: number): string;

export function identityOf(pid: number): ProcessIdentity;

/**
 * Whether this very process still runs. False for another one that got the same id later, also when
 * it has the same command line (in a restarted container the first process always has the same id
 * and command).
 */
export function isSameProcess(identity: Partial<ProcessIdentity>): boolean;

/** Sends a signal; a process that is gone already is not an error. */
export function signal(pid: number, name: NodeJS.Signals): void;

/** Resolves true as soon as the process is gone, false when it still runs after the deadline. */
export function waitForExit(pid: number, timeoutMs: number): Promise<boolean>;

/** Tries each signal in turn and waits for the end after each. @returns whether it ended */
export function endProcess(
  pid: number,
  steps: readonly { readonly signal: NodeJS.Signals; readonly waitMs: number }[],
): Promise<boolean>;

/** Calls once when the process that started this one has ended, however it ended. */
export function onParentEnd(ended: () => void): void;
