import { cookies } from "next/headers";
import {
  PREFERENCE_COOKIES,
  preferenceOf,
  type Preference,
  type Preferences,
} from "@/lib/core/browser-cookies";

export const readPreferences = async (): Promise<Preferences> => {
  const jar = await cookies();
  const read = (preference: Preference): string | null => {
    const value = jar.get(PREFERENCE_COOKIES[preference])?.value;
    return value === undefined ? null : preferenceOf(preference, value);
  };
  return {
    project: read("project"),
    amountsHidden: read("amountsHidden"),
    firstStepsHidden: read("firstStepsHidden"),
  };
};
