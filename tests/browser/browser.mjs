// A headless Chromium, spoken to over a pipe in the DevTools protocol: no package is needed, and no port is opened.
// https://chromedevtools.github.io/devtools-protocol/

import {spawn} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';

const SWITCHES = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-default-apps', '--disable-sync',
  '--remote-debugging-pipe'];

export class Browser {
  #process;
  #profile = mkdtempSync(join(tmpdir(), 'paretopipe-browser-'));
  #unanswered = new Map();
  #listeners = [];
  #last = 0;
  #received = '';

  constructor(program) {
    this.#process = spawn(program, [...SWITCHES, `--user-data-dir=${this.#profile}`, 'about:blank'],
                          {stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe']});
    this.#process.on('error', error => this.#fail(error));
    this.#process.on('exit', code => this.#fail(new Error(`${program} ended with status ${code}`)));
    this.#process.stdio[4].setEncoding('utf8').on('data', text => this.#receive(text));
  }

  // Messages are JSON, each ended by a NUL.
  #receive(text) {
    const messages = (this.#received + text).split('\0');
    this.#received = messages.pop();
    for (const message of messages.map(one => JSON.parse(one))) {
      const answer = this.#unanswered.get(message.id);
      if (!answer) {
        for (const listen of this.#listeners) listen(message);
        continue;
      }
      this.#unanswered.delete(message.id);
      message.error ? answer.reject(new Error(`${answer.method}: ${message.error.message}`)) : answer.resolve(message.result);
    }
  }

  #fail(error) {
    for (const answer of this.#unanswered.values()) answer.reject(error);
    this.#unanswered.clear();
  }

  listen(listener) {
    this.#listeners.push(listener);
  }

  send(method, params = {}, sessionId = undefined) {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#unanswered.set(id, {resolve, reject, method});
      this.#process.stdio[3].write(JSON.stringify({id, method, params, sessionId}) + '\0');
    });
  }

  // A tab of its own for every page.
  async open(file, {width = 1400, height = 900, dark = false} = {}) {
    const {targetId} = await this.send('Target.createTarget', {url: 'about:blank'});
    const {sessionId} = await this.send('Target.attachToTarget', {targetId, flatten: true});
    const page = new Page(this, sessionId);
    await page.start({width, height, dark});
    await page.go(pathToFileURL(file).href);
    return page;
  }

  async close() {
    const ended = new Promise(resolve => this.#process.once('exit', resolve));
    this.send('Browser.close').catch(() => {});
    await ended;
    rmSync(this.#profile, {recursive: true, force: true, maxRetries: 5});
  }
}

export class Page {
  requests = [];   // every address that was asked for
  complaints = []; // what the console and the security policy said, and what was thrown

  constructor(browser, session) {
    this.browser = browser;
    this.session = session;
    browser.listen(message => message.sessionId === session && this.#hear(message));
  }

  #hear({method, params}) {
    if (method === 'Network.requestWillBeSent') this.requests.push(params.request.url);
    if (method === 'Runtime.exceptionThrown') this.complaints.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === 'Runtime.consoleAPICalled') this.complaints.push(params.args.map(arg => arg.value ?? arg.description).join(' '));
    if (method === 'Log.entryAdded') this.complaints.push(params.entry.text);
    if (method === 'Page.loadEventFired') this.loaded?.();
  }

  send(method, params = {}) {
    return this.browser.send(method, params, this.session);
  }

  async start({width, height, dark}) {
    for (const domain of ['Page', 'Network', 'Runtime', 'Log']) await this.send(`${domain}.enable`);
    await this.send('Emulation.setDeviceMetricsOverride', {width, height, deviceScaleFactor: 1, mobile: width < 600});
    await this.send('Emulation.setEmulatedMedia', {features: [{name: 'prefers-color-scheme', value: dark ? 'dark' : 'light'}]});
  }

  async go(url) {
    const loaded = new Promise(resolve => this.loaded = resolve);
    await this.send('Page.navigate', {url});
    await loaded;
  }

  // The value of an expression in the page.
  async evaluate(expression) {
    const {result, exceptionDetails} = await this.send('Runtime.evaluate', {expression, returnByValue: true, awaitPromise: true});
    if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
    return result.value;
  }

  async moveMouse(x, y) {
    await this.send('Input.dispatchMouseEvent', {type: 'mouseMoved', x, y});
  }

  async click(x, y) {
    for (const type of ['mousePressed', 'mouseReleased']) {
      await this.send('Input.dispatchMouseEvent', {type, x, y, button: 'left', clickCount: 1});
    }
  }

  async screenshot() {
    const {data} = await this.send('Page.captureScreenshot', {captureBeyondViewport: true});
    return Buffer.from(data, 'base64');
  }

  async pdf() {
    const {data} = await this.send('Page.printToPDF', {printBackground: false});
    return Buffer.from(data, 'base64');
  }
}
