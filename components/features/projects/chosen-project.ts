const KEY = "causeway.project";

/** Id of the project that this browser works in; null: the one that the person joined first. */
export const readChosenProject = (): string | null =>
  typeof window === "undefined" ? null : window.localStorage.getItem(KEY);

/** Works in another project from now on. Loads the overview anew, so that nothing of the former project stays in memory. */
export const chooseProject = (id: string | null): void => {
  if (id === null) window.localStorage.removeItem(KEY);
  else window.localStorage.setItem(KEY, id);
  window.location.assign("/");
};
