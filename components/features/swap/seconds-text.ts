const MINUTE = 60;

/** 8 → `8 s`, 95 → `2 min`. */
export const secondsText = (seconds: number): string =>
  seconds < MINUTE ? `${seconds} s` : `${Math.ceil(seconds / MINUTE)} min`;
