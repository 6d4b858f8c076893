import { routingContract } from "@/lib/money/ports/routing.contract";
import { fakeRoutingWorld } from "./fake-routing-world";
import { createSecondRouting } from "./second-routing";

const world = fakeRoutingWorld((inner) => createSecondRouting({ id: "second", inner }));
routingContract("the second provider of tests", () => world);
