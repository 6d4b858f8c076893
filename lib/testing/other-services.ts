import { onTestFinished } from "vitest";
import { createServices, setServices, type Services } from "@/lib/composition";
import type { ChainRegistry } from "@/lib/chains/registry";

/** The services of an instance with the same secrets on another database; `getServices()` gives them from now on. Closed after the test that calls it. */
export const otherServices = ({ config }: Services, databaseUrl: string, registry: ChainRegistry): Services => {
  const services = createServices({ ...config, databaseUrl, listenUrl: databaseUrl }, { registry });
  setServices(services);
  onTestFinished(() => services.close());
  return services;
};
